// Looking into a model while it runs, and changing what it computes.

export { Hooks } from "./hooks.ts";
export { POINTS } from "./points.ts";
