// JSON as requests and models write it: texts as values whose numbers lose nothing, in bounded time.

export * from "./exact.ts";
export * from "./number.ts";
export * from "./parser.ts";
