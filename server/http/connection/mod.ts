// HTTP/1.1 over TCP, as Requests and Responses. Knows no routes.

export type { Handler, Patience } from "./connection.ts";
export { asksForSocket, becomeSocket, type ServerSocket } from "./web_socket.ts";
export { HttpServer, type HttpServerOptions } from "./server.ts";
