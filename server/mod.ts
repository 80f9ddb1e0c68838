// What the rest of the project may use of the server.

export { createApp } from "./http/app.ts";
export type { AppOptions } from "./http/app_types.ts";
export { main } from "./cli/main.ts";
export type { CliDependencies } from "./cli/dependencies.ts";
export { createLog, type Log } from "./log.ts";
