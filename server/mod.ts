// What the rest of the project may use of the server.

export { type AppOptions, createApp } from "./app.ts";
export { main } from "./cli.ts";
export type { CliDependencies } from "./commands/dependencies.ts";
export { createLog, type Log } from "./log.ts";
