// How the model in the box is measured, for the benchmarks and the tests. The server only knows
// file.ts; the rest of the folder made the file.

export { evaluate, formatScores } from "./evaluate.ts";
export type { Ask, Miss, Question, Score } from "./evaluate.ts";
export { BOX_MODEL } from "./file.ts";
export type { Answer } from "./types.ts";
