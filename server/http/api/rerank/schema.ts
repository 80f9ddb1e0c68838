// JSON Schemas of the bodies of rerank and score requests: the members of Cohere, Jina, Voyage, vLLM,
// llama-server and Text Embeddings Inference, and Ollama's for the load.

import {
  type BodyOf,
  closed,
  flag,
  harmless,
  integer,
  keepAlive,
  list,
  text,
} from "../../body/schema.ts";
import { loraMembers } from "../lora.ts";
import { options } from "../options.ts";
import { streamOfOne, unreadInRequests } from "../unread_members.ts";

const common = {
  ...unreadInRequests,
  stream: streamOfOne,
  model: text,
  instruction: {
    ...text,
    description: "What makes a document relevant, for models that read an instruction.",
  },
  truncate: {
    ...flag,
    description: "Whether the end of a document that does not fit the window is left out. " +
      "Default false: the request is refused.",
  },
  ...loraMembers,
  options,
  keep_alive: keepAlive,
} as const;

const documents = {
  ...list({
    anyOf: [{ type: "string" }, closed({ text: { type: "string" } }, "text")],
  }),
  description: "The documents, as texts or as objects with a `text`.",
} as const;

/** Body of all rerank paths. */
export const rerankSchema = closed({
  ...common,
  query: text,
  documents,
  texts: {
    ...list({ type: "string" }),
    description: "The documents, as Text Embeddings Inference calls them.",
  },
  top_n: { ...integer, description: "Most results. Default: all." },
  top_k: { ...integer, description: "Voyage's name of top_n. The results are then in `data`." },
  return_documents: { ...flag, description: "Whether results have the documents. Default false." },
  return_text: { ...flag, description: "Whether results have the texts. Default false." },
  raw_scores: {
    ...flag,
    description: "Whether scores are the outputs of the model's head, instead of probabilities.",
  },
  truncation: { ...flag, description: "Voyage's name of truncate." },
  max_tokens_per_doc: {
    ...integer,
    description: "Most tokens of a document that are read. Default: all.",
  },
  max_chunks_per_doc: harmless("documents are read in one piece"),
  rank_fields: {
    ...list({ enum: ["text"] }),
    description: 'Accepted as ["text"]: documents have a text alone.',
  },
  priority: harmless("requests run in the order in which they come"),
});

export type RerankBody = BodyOf<typeof rerankSchema>;

const texts = {
  type: ["string", "array", "null"],
  items: { type: "string" },
} as const;

/** Body of POST /v1/score. */
export const scoreSchema = closed({
  ...common,
  text_1: { ...texts, description: "A query, or several: as many as there are documents." },
  text_2: { ...texts, description: "A document, or several." },
  queries: { ...texts, description: "Another name of text_1." },
  documents: { ...texts, description: "Another name of text_2." },
  items: { ...texts, description: "Another name of text_2." },
});

export type ScoreBody = BodyOf<typeof scoreSchema>;
