// The model in the box: where its file is, and how it is measured. The server and the library use the
// first, the benchmarks and the tests the second; the rest of the folder made the file.

export { evaluate, formatScores } from "./evaluate.ts";
export type { Ask, Miss, Question, Score } from "./evaluate.ts";
export type { Answer } from "./types.ts";

/** The name under which the model is served. */
export const BOX_NAME = "quern:tiny";

/** The file, which `deno compile` embeds. */
export const BOX_PATH: string = new URL("quern-tiny.gguf", import.meta.url).pathname;
