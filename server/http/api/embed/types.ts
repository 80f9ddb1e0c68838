// What the embedding endpoints answer, as TypeScript types.

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
