// What the rest of the project may use of the server.

export { createApp } from "./app.ts";
export type { AppOptions } from "./app_types.ts";
export { main } from "./cli.ts";
export type { CliDependencies } from "./commands/dependencies.ts";
export { createLog, type Log } from "./log.ts";
