// The bodies of embedding requests and their answers as TypeScript types. The schemas in
// schemas/embed.ts see to it that a request is what its type says.

import type { Given } from "../options.ts";

/** What all embedding requests share. */
export interface EmbedBody {
  model?: Given<string>;
  /** Only num_ctx has an effect. */
  options?: Given<Record<string, unknown> & { num_ctx?: Given<number> }>;
  /** Duration such as "5m", or seconds. */
  keep_alive?: Given<string | number>;
  /** Default true. */
  truncate?: Given<boolean>;
}

/** Body of POST /api/embed. */
export interface OllamaEmbedBody extends EmbedBody {
  /** A string or an array of strings. */
  input?: unknown;
  /** 0 is "not given". */
  dimensions?: Given<number>;
}

/** Body of POST /api/embeddings, the older endpoint. */
export interface LegacyEmbedBody extends EmbedBody {
  prompt?: Given<string>;
}

/** Body of POST /v1/embeddings. */
export interface OpenAiEmbedBody extends EmbedBody {
  /** A string, an array of strings, token ids, or an array of those. */
  input?: unknown;
  /** 0 is "not given". */
  dimensions?: Given<number>;
  /** "float" or "base64". Default "float". */
  encoding_format?: Given<string>;
}

/** Answer of POST /api/embed; vectors as they are made, times in integer nanoseconds, zeros left out. */
export interface OllamaEmbedAnswer {
  model: string;
  embeddings: IteratorObject<number[]>;
  total_duration?: number;
  load_duration?: number;
  prompt_eval_count?: number;
}

/** Answer of POST /v1/embeddings. */
export interface OpenAiEmbedAnswer {
  object: "list";
  data: IteratorObject<{
    object: "embedding";
    /** Numbers, or their f32 bytes, little-endian, in base64. */
    embedding: number[] | string;
    index: number;
  }>;
  model: string;
  usage: { prompt_tokens: number; total_tokens: number };
}
