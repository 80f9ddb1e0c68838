// Byte-level vocabularies of model folders in GGUF, and what all vocabularies have: special tokens and
// templates. SentencePiece's are in safetensors_sentencepiece_test.ts.

import { assertEquals, assertRejects } from "@std/assert";
import { RequestError, UnsupportedModelError } from "../../../engine/mod.ts";
import { convertVocabulary, NAMES, tokenizerOf } from "./tokenizer_files.ts";

const raw = String.raw;
const GPT2 = { type: "ByteLevel", add_prefix_space: false, trim_offsets: true, use_regex: true };
const BYTES = { type: "ByteLevel", add_prefix_space: false, use_regex: false };
const split = (regex: string) => ({
  type: "Split",
  pattern: { Regex: regex },
  behavior: "Isolated",
  invert: false,
});
const sequence = (...pretokenizers: unknown[]) => ({ type: "Sequence", pretokenizers });
const llama3 = (digits: string) =>
  split(
    raw`(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|${digits}| ?[^\s\p{L}\p{N}]+[\r\n]*|` +
      raw`\s*[\r\n]+|\s+(?!\S)|\s+`,
  );

/** A tokenizer.json with few pieces. */
function byteLevel(change: Record<string, unknown> = {}, model: Record<string, unknown> = {}) {
  const alphabet = ["h", "e", "l", "o", "Ġ", "w", "r", "d", "1", "2"];
  const vocab = [...alphabet, "he", "ll", "hell", "hello", "Ġw", "12"];
  const merges = ["h e", "l l", "he ll", "hell o", "Ġ w", "1 2"];
  return {
    added_tokens: [
      { id: 16, content: "<s>", special: true },
      { id: 17, content: "</s>", special: true },
      { id: 18, content: "<tool>", special: false },
    ],
    pre_tokenizer: GPT2,
    decoder: { type: "ByteLevel" },
    model: {
      type: "BPE",
      vocab: Object.fromEntries(vocab.map((piece, id) => [piece, id])),
      merges,
      ...model,
    },
    ...change,
  };
}

const PRETOKENIZERS: readonly [name: string, pretokenizer: unknown, ignoresMerges?: boolean][] = [
  ["gpt-2", GPT2],
  ["gpt-2", { type: "ByteLevel" }],
  ["smollm", sequence({ type: "Digits", individual_digits: true }, GPT2)],
  ["llama-bpe", sequence(llama3(raw`\p{N}{1,3}`), BYTES), true],
  ["dbrx", sequence(llama3(raw`\p{N}{1,3}`), BYTES)],
  ["qwen2", sequence(llama3(raw`\p{N}`), BYTES)],
  ["qwen2", sequence({ ...llama3(raw`\p{N}`), behavior: "Removed", invert: true }, BYTES)],
];

for (const [name, pretokenizer, ignoresMerges = false] of PRETOKENIZERS) {
  const text = JSON.stringify(pretokenizer).slice(0, 60);
  Deno.test(`tokenizerMetadata() knows ${text}… as ${name}`, async () => {
    const model = { ignore_merges: ignoresMerges };
    const tokenizer = byteLevel({ pre_tokenizer: pretokenizer }, model);
    const metadata = await convertVocabulary({ "tokenizer.json": tokenizer });
    assertEquals(metadata["tokenizer.ggml.pre"], name);
  });
}

for (
  const pretokenizer of [
    sequence(split(raw`\p{L}{1,2}`), BYTES),
    sequence({ ...llama3(raw`\p{N}`), behavior: "Contiguous" }, BYTES),
    sequence({ type: "Punctuation", behavior: "Isolated" }, GPT2),
    BYTES,
  ]
) {
  Deno.test(`tokenizerMetadata() quotes ${JSON.stringify(pretokenizer).slice(0, 90)}…`, async () => {
    const tokenizer = byteLevel({ pre_tokenizer: pretokenizer });
    const attempt = () => convertVocabulary({ "tokenizer.json": tokenizer });
    const message = "no rule is known that cuts words by";
    await assertRejects(attempt, UnsupportedModelError, message);
  });
}

Deno.test("tokenizerMetadata() writes bytes, merges and added tokens", async () => {
  const metadata = await convertVocabulary({ "tokenizer.json": byteLevel() }, { size: 21 });
  assertEquals(metadata["tokenizer.ggml.model"], "gpt2");
  const tokens = metadata["tokenizer.ggml.tokens"] as string[];
  assertEquals(tokens.slice(13), [
    "hello",
    "Ġw",
    "12",
    "<s>",
    "</s>",
    "<tool>",
    "[PAD19]",
    "[PAD20]",
  ]);
  const types = metadata["tokenizer.ggml.token_type"] as Int32Array;
  assertEquals([...types.slice(13)], [1, 1, 1, 3, 3, 4, 5, 5]);
  const tokenizer = tokenizerOf(metadata);
  assertEquals(tokenizer.encode("hello wo<tool>"), [13, 14, 3, 18]);
  assertEquals(tokenizer.decode([13, 14, 3]), "hello wo");
});

Deno.test("tokenizerMetadata() takes merges as pairs too, and refuses others", async () => {
  const merges = [["h", "e"], ["l", "l"]];
  const metadata = await convertVocabulary({ "tokenizer.json": byteLevel({}, { merges }) });
  assertEquals(metadata["tokenizer.ggml.merges"], ["h e", "l l"]);
  const attempt = () => convertVocabulary({ "tokenizer.json": byteLevel({}, { merges: [["h"]] }) });
  await assertRejects(attempt, RequestError, "model.merges[0]: it is not a pair of pieces");
});

const frame = (...ids: string[]) => ({
  type: "Sequence",
  processors: [BYTES, {
    type: "TemplateProcessing",
    single: ids.map((id) =>
      id === "A" ? { Sequence: { id, type_id: 0 } } : { SpecialToken: { id, type_id: 0 } }
    ),
  }],
});

const FLAGS: readonly [tokenizer: object, config: object, bos: boolean, eos: boolean][] = [
  [{}, NAMES, false, false],
  [{ post_processor: frame("<s>", "A") }, NAMES, true, false],
  [{ post_processor: frame("<s>", "A", "</s>") }, NAMES, true, true],
  [{ post_processor: frame("<s>", "A") }, { ...NAMES, add_bos_token: false }, false, false],
  [{}, { ...NAMES, add_bos_token: true, add_eos_token: true }, true, true],
];

for (const [tokenizer, config, bos, eos] of FLAGS) {
  const text = JSON.stringify({ ...tokenizer, ...config }).slice(0, 120);
  Deno.test(`tokenizerMetadata() frames texts with ${bos}, ${eos} by ${text}`, async () => {
    const files = {
      "tokenizer.json": byteLevel({ ...tokenizer }),
      "tokenizer_config.json": config,
    };
    const metadata = await convertVocabulary(files);
    assertEquals(metadata["tokenizer.ggml.add_bos_token"], bos);
    assertEquals(metadata["tokenizer.ggml.add_eos_token"], eos);
    assertEquals(metadata["tokenizer.ggml.bos_token_id"], { uint32: 16 });
    assertEquals(metadata["tokenizer.ggml.eos_token_id"], { uint32: 17 });
  });
}

Deno.test("tokenizerMetadata() finds special tokens in each file, the tokenizer's own first", async () => {
  const files = {
    "tokenizer.json": byteLevel(),
    "tokenizer_config.json": { bos_token: null, eos_token: "</s>" },
    "special_tokens_map.json": { pad_token: "<tool>", eos_token: "<tool>" },
    "generation_config.json": { eos_token_id: [17, 18, 3, 4] },
  };
  const metadata = await convertVocabulary(files, {
    config: { bos_token_id: 16, eos_token_id: 5 },
  });
  const ids = Object.entries(metadata).filter(([key]) => key.endsWith("_token_id"));
  assertEquals(Object.fromEntries(ids), {
    "tokenizer.ggml.bos_token_id": { uint32: 16 },
    "tokenizer.ggml.eos_token_id": { uint32: 17 },
    "tokenizer.ggml.padding_token_id": { uint32: 18 },
    "tokenizer.ggml.eot_token_id": { uint32: 18 },
    "tokenizer.ggml.eom_token_id": { uint32: 3 },
  });
});

const TEMPLATES: readonly [files: Record<string, unknown>, expected: string | undefined][] = [
  [{}, undefined],
  [{ "tokenizer_config.json": { chat_template: "own" } }, "own"],
  [{ "tokenizer_config.json": { chat_template: "own" }, "chat_template.jinja": "file" }, "file"],
  [{ "chat_template.json": { chat_template: "json" } }, "json"],
  [
    {
      "tokenizer_config.json": {
        chat_template: [{ name: "rag", template: "a" }, { name: "default", template: "b" }],
      },
    },
    "b",
  ],
];

for (const [files, expected] of TEMPLATES) {
  Deno.test(`tokenizerMetadata() takes the template of ${JSON.stringify(files)}`, async () => {
    const metadata = await convertVocabulary({ "tokenizer.json": byteLevel(), ...files });
    assertEquals(metadata["tokenizer.chat_template"], expected);
  });
}
