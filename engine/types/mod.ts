// The engine's own protocol: what a model is asked, what it answers, and how it is loaded.

export type * from "./events.ts";
export type * from "./load_options.ts";
export type * from "./model.ts";
export type * from "./requests.ts";
