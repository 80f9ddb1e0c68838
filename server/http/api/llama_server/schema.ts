// JSON Schemas of the bodies of llama-server's own routes. They fix types only; null is "not given".

import {
  type BodyOf,
  closed,
  flag,
  integer,
  list,
  optional,
  text,
  texts,
} from "../../body/schema.ts";
import { loraSchema } from "../lora.ts";
import { wishes } from "../wishes.ts";
import { streamOfOne } from "../unread_members.ts";

const model = {
  ...text,
  description: "Name of the model; also in the query. Default: the one that is loaded, or the " +
    "only one that there is.",
} as const;

/** Body of POST /tokenize. */
export const llamaTokenizeSchema = closed({
  model,
  stream: streamOfOne,
  content: { ...text, description: "What is split." },
  add_special: { ...flag, description: "Whether BOS and EOS come around it. Default false." },
  parse_special: {
    ...flag,
    description: "Whether control tokens in the text become tokens. Default true.",
  },
  with_pieces: { ...flag, description: "Whether texts come beside the ids. Default false." },
});

/** Body of POST /detokenize. */
export const llamaDetokenizeSchema = closed({
  model,
  stream: streamOfOne,
  tokens: { ...list({ type: "integer" }), description: "Ids of tokens." },
});

/** A file, or a piece of one, that belongs to the gap. */
const extra = closed({
  text: { ...text, description: "Its text." },
  filename: { ...text, description: "Its name." },
});

const completion = {
  ...wishes,
  model,
  stream: { ...flag, description: "Whether the answer comes in pieces. Default false." },
  n_predict: { type: ["integer", "null"], description: "Most tokens of the answer." },
  n_probs: {
    ...integer,
    description: "How many alternatives of each token are told, in completion_probabilities. " +
      "Default 0: nothing is told.",
  },
  return_tokens: { ...flag, description: "Tell the ids of the tokens. Default false." },
  response_fields: {
    ...texts,
    description: "The only members that are told; a/b is the member b of a.",
  },
} as const;

/** Body of POST /completion. */
export const llamaCompletionSchema = closed({
  ...completion,
  prompt: {
    anyOf: [{ type: ["string", "null"] }, { type: "array", items: { type: "integer" } }],
    description: "A text or token ids, continued as they are.",
  },
});

export type LlamaCompletionBody = BodyOf<typeof llamaCompletionSchema>;

/** Body of POST /infill. */
export const llamaInfillSchema = closed({
  ...completion,
  input_prefix: { ...text, description: "The text before the gap." },
  input_suffix: { ...text, description: "The text after the gap." },
  input_extra: {
    ...list(optional(extra)),
    description: "Texts around it, which come before the prefix, each under its file's name.",
  },
  prompt: { ...text, description: "What stands in the gap already: it comes after the prefix." },
});

export type LlamaInfillBody = BodyOf<typeof llamaInfillSchema>;

/** Body of POST /lora-adapters. */
export const llamaAdaptersBodySchema = {
  ...list(loraSchema),
  type: "array",
  description: "The adapters of requests that name none.",
} as const;
