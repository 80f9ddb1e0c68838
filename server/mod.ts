// What the rest of the project may use of the server.

export type { CliDependencies } from "./cli/dependencies.ts";
export { main } from "./cli/main.ts";
export { type AppOptions, createApp } from "./http/mod.ts";
export { createLog, type Log } from "./log.ts";
