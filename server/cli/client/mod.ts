// What the commands may use of the client.

export { type Api, ApiError, ConnectionError, refusalOf, type RequestOptions } from "./api.ts";
export { connect, type ConnectOptions } from "./connect.ts";
