// Tiny Llama models for tests that need a whole model: a GGUF file with seeded random weights, a
// byte-level vocabulary and a ChatML template. Small enough for any machine, sound in every part.

import { type LlamaShape, writeSyntheticLlama } from "../bench/synthetic_model.ts";
import type { WritableMetadata } from "../engine/gguf/mod.ts";

/** What to change of the default model: two layers 64 wide, four heads over two KV heads, F32. */
export interface TinyOptions extends Partial<LlamaShape> {
  /** GGML type of the matrices. Default "F32". */
  readonly type?: string;
  /** Same seed, same file. Default 1. */
  readonly seed?: number;
  /** Chat template. Default: ChatML, without tools and thinking. */
  readonly template?: string;
  /** Further members of the header. */
  readonly metadata?: WritableMetadata;
}

/** ChatML with tools and thinking, as the Qwen models have it. */
export const TOOL_TEMPLATE = `{%- if tools %}<|im_start|>system
<tools>{% for tool in tools %}{{ tool | tojson }}{% endfor %}</tools>
Call as <tool_call>{"name": ..., "arguments": ...}</tool_call><|im_end|>
{% endif %}
{%- for message in messages %}<|im_start|>{{ message.role }}
{{ message.content }}{% for call in message.tool_calls or [] %}<tool_call>
{"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments | tojson }}}
</tool_call>{% endfor %}<|im_end|>
{% endfor %}
{%- if add_generation_prompt %}<|im_start|>assistant
{% if enable_thinking is defined and enable_thinking %}<think>
{% else %}<think>

</think>

{% endif %}{% endif %}`;

/** Token that begins a turn of the conversation; ids below 256 are bytes in GPT-2's order. */
export const BEGIN_TOKEN = 256;
/** Token that ends a turn, and with it an answer. */
export const END_TOKEN = 257;

/** Metadata by which fillers of the vocabulary are the tokens around a gap: 297, 298 and 299. */
export const GAP_TOKENS: WritableMetadata = {
  "tokenizer.ggml.fim_pre_token_id": { uint32: 297 },
  "tokenizer.ggml.fim_suf_token_id": { uint32: 298 },
  "tokenizer.ggml.fim_mid_token_id": { uint32: 299 },
};

/**
 * Writes a tiny Llama model, deterministic by its options.
 * @throws RangeError if the vocabulary is below 258, or no weights can be made of the type
 */
export async function writeTinyLlama(path: string | URL, options: TinyOptions = {}): Promise<void> {
  const { type = "F32", seed = 1, template, metadata = {}, ...sizes } = options;
  const shape: LlamaShape = {
    layers: 2,
    embedding: 64,
    heads: 4,
    keyValueHeads: 2,
    feedForward: 160,
    vocabulary: 300,
    context: 256,
    ropeBase: 10_000,
    tiedEmbedding: false,
    ...sizes,
  };
  // Activations of about 1 throughout, so that attention and logits are far from uniform.
  const standardDeviation = 1 / Math.sqrt(shape.embedding);
  await writeSyntheticLlama(path, shape, {
    type,
    seed,
    standardDeviation,
    metadata,
    ...(template !== undefined && { template }),
  });
}
