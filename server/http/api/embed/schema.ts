// JSON Schemas of the bodies of embedding requests, native and OpenAI's. They fix types only;
// `input` has error messages of its own, so it is checked where it is read.

import { type BodyOf, closed, flag, keepAlive, only, text } from "../../body/schema.ts";
import { options } from "../options.ts";
import { streamOfOne, unreadInRequests } from "../unread_members.ts";

const texts = { description: "A text, or an array of texts." } as const;
const inputs = {
  description: "A text, an array of texts, token ids, or an array of those.",
} as const;
const dimensions = { type: ["integer", "null"], minimum: 0 } as const;

/** Why nobody can say what a text is for. */
const prefix = "begin the texts with the words that the model was trained with";

/** Members that all of them share; OpenAI's path takes those of Ollama as well. */
const common = {
  ...unreadInRequests,
  stream: streamOfOne,
  model: text,
  options,
  keep_alive: keepAlive,
  truncate: { type: ["boolean", "null"] },
} as const;

const request = closed(common);

/** Members of all embedding requests. Of the options, those of the load have an effect. */
export type EmbedBody = BodyOf<typeof request>;

/** Body of POST /api/embed. */
export const embedSchema = closed({ ...common, input: texts, dimensions });

export type OllamaEmbedBody = BodyOf<typeof embedSchema>;

/** Body of POST /api/embeddings. */
export const legacyEmbedSchema = closed({ ...common, prompt: text });

export type LegacyEmbedBody = BodyOf<typeof legacyEmbedSchema>;

/** Body of POST /v1/embeddings. */
export const openAiEmbedSchema = closed({
  ...common,
  input: inputs,
  dimensions,
  encoding_format: text,
  output_dimension: { ...dimensions, description: "What Voyage calls dimensions." },
  truncation: { ...flag, description: "What Voyage calls truncate." },
  output_dtype: only(["float"], "vectors are floats"),
  embedding_type: only(["float"], "vectors are floats; encoding_format says how they are written"),
  normalized: only([true], "vectors have the length 1"),
  input_type: only([], prefix),
  task: only([], prefix),
  late_chunking: only([], "each text is embedded by itself"),
});

/** Body of POST /embed. */
export const teiEmbedSchema = closed({
  ...common,
  inputs: texts,
  dimensions,
  normalize: only([true], "vectors have the length 1"),
  truncation_direction: only(["right", "Right"], "the end of a text is left out"),
  prompt_name: only([], prefix),
});

export type TeiEmbedBody = BodyOf<typeof teiEmbedSchema>;

export type OpenAiEmbedBody = BodyOf<typeof openAiEmbedSchema>;
