// SentencePiece's vocabularies of model folders in GGUF, from a tokenizer.model or a tokenizer.json,
// and what the tokenizer makes of texts afterwards.

import { assert, assertEquals, assertRejects } from "@std/assert";
import { readGguf } from "../../../engine/gguf/mod.ts";
import { RequestError, UnsupportedModelError } from "../../../engine/mod.ts";
import { createTokenizer } from "../../../tokenizer/mod.ts";
import { convertVocabulary, NAMES, tokenizerOf } from "./tokenizer_files.ts";

/** A field of a protocol buffer. */
function field(
  number: number,
  value: number | string | Float32Array | readonly number[],
): number[] {
  if (typeof value === "number") return [number * 8, ...varint(value)];
  if (value instanceof Float32Array) return [number * 8 + 5, ...new Uint8Array(value.buffer)];
  const bytes = typeof value === "string" ? [...new TextEncoder().encode(value)] : value;
  return [...varint(number * 8 + 2), ...varint(bytes.length), ...bytes];
}

function varint(value: number): number[] {
  return value < 0x80 ? [value] : [value % 0x80 + 0x80, ...varint(Math.floor(value / 0x80))];
}

interface Pieces {
  texts: readonly string[];
  scores: ArrayLike<number>;
  kinds: ArrayLike<number>;
}

/** A tokenizer.model. @param type 2 for BPE */
function sentencePieceModel({ texts, scores, kinds }: Pieces, type = 2): Uint8Array {
  const pieces = texts.flatMap((text, id) =>
    field(1, [
      ...field(1, text),
      ...field(2, Float32Array.of(scores[id])),
      // Kind 1 is left out, as the default is.
      ...(kinds[id] === 1 ? [] : field(3, kinds[id])),
    ])
  );
  const trainer = [...field(3, type), ...varint(40 * 8), 0];
  return Uint8Array.from([...pieces, ...field(2, trainer), ...field(3, field(3, 0))]);
}

const PIECES: Pieces = {
  texts: ["<unk>", "<s>", "</s>", "<0x0A>", "▁", "a", "b", "ab", "▁a", "▁ab"],
  scores: [0, 0, 0, 0, -9, -8, -7, -3, -2, -1],
  kinds: [2, 3, 3, 6, 1, 1, 1, 1, 1, 1],
};

Deno.test("tokenizerMetadata() reads pieces, scores and kinds of a tokenizer.model", async () => {
  const files = { "tokenizer.model": sentencePieceModel(PIECES), "tokenizer_config.json": NAMES };
  const metadata = await convertVocabulary(files, { size: 11 });
  assertEquals(metadata["tokenizer.ggml.model"], "llama");
  assertEquals(metadata["tokenizer.ggml.tokens"], [...PIECES.texts, "[PAD10]"]);
  const scores = metadata["tokenizer.ggml.scores"] as Float32Array;
  assertEquals([...scores.slice(0, 10)], [...PIECES.scores as number[]]);
  const types = metadata["tokenizer.ggml.token_type"] as Int32Array;
  assertEquals([...types], [...PIECES.kinds as number[], 5]);
  assertEquals(metadata["tokenizer.ggml.add_space_prefix"], false);
  assertEquals(metadata["tokenizer.ggml.add_bos_token"], true);
  assertEquals(tokenizerOf(metadata).encode("ab ab\n", { bos: true }), [1, 7, 9, 3]);
});

Deno.test("tokenizerMetadata() refuses pieces that are chosen by their likelihood", async () => {
  const attempt = () => convertVocabulary({ "tokenizer.model": sentencePieceModel(PIECES, 1) });
  await assertRejects(attempt, UnsupportedModelError, "are not joined by BPE");
});

for (
  const [what, bytes] of [["text", "IQ== 0\nIg== 1\n"], ["nothing", new Uint8Array(0)]] as const
) {
  Deno.test(`tokenizerMetadata() refuses a tokenizer.model that is ${what}`, async () => {
    const attempt = () => convertVocabulary({ "tokenizer.model": bytes });
    await assertRejects(attempt, RequestError, "tokenizer.model");
  });
}

/** A tokenizer.json such as is made of pieces: every way in which two of them make a third. */
function markedBpe({ texts, scores, kinds }: Pieces, change: Record<string, unknown> = {}) {
  const ids = new Map(texts.map((text, id) => [text, id]));
  const byScore = texts.map((_, id) => id).filter((id) => kinds[id] === 1)
    .sort((a, b) => scores[b] - scores[a]);
  const merges = byScore.flatMap((id) => {
    const characters = [...texts[id]];
    return characters.slice(1).map((_, i) => [
      characters.slice(0, i + 1).join(""),
      characters.slice(i + 1).join(""),
    ]).filter((pair) => pair.every((part) => ids.has(part)));
  });
  const special = texts.map((content, id) => ({ id, content, special: true }))
    .filter(({ id }) => kinds[id] === 2 || kinds[id] === 3);
  return {
    added_tokens: special,
    normalizer: {
      type: "Sequence",
      normalizers: [{ type: "Prepend", prepend: "▁" }, { type: "Replace" }],
    },
    pre_tokenizer: null,
    model: {
      type: "BPE",
      unk_token: "<unk>",
      byte_fallback: true,
      vocab: Object.fromEntries(ids),
      merges,
    },
    ...change,
  };
}

Deno.test("tokenizerMetadata() reads SentencePiece's pieces from a tokenizer.json", async () => {
  const files = { "tokenizer.json": markedBpe(PIECES), "tokenizer_config.json": NAMES };
  const metadata = await convertVocabulary(files, { size: 10 });
  assertEquals(metadata["tokenizer.ggml.token_type"], Int32Array.from(PIECES.kinds));
  assertEquals(metadata["tokenizer.ggml.unknown_token_id"], { uint32: 0 });
  assertEquals(tokenizerOf(metadata).encode("ab ab"), [9, 9]);
});

const METASPACE = { type: "Metaspace", replacement: "▁" };
for (
  const [change, expected] of [
    [{}, true],
    [{ normalizer: { type: "Replace" } }, false],
    [{ normalizer: null, pre_tokenizer: METASPACE }, true],
    [{ normalizer: null, pre_tokenizer: { ...METASPACE, prepend_scheme: "never" } }, false],
    [{ normalizer: null, pre_tokenizer: { ...METASPACE, add_prefix_space: false } }, false],
  ] as const
) {
  Deno.test(`tokenizerMetadata() adds a space by ${JSON.stringify(change)}: ${expected}`, async () => {
    const metadata = await convertVocabulary({ "tokenizer.json": markedBpe(PIECES, change) });
    assertEquals(metadata["tokenizer.ggml.add_space_prefix"], expected);
  });
}

const shared = new URL("../../../../shared/data/tokenizers/", import.meta.url);
const hasData = await Deno.stat(shared).then(() => true, () => false);

Deno.test({
  name: "a Llama 2 vocabulary through either file cuts texts as ever" +
    (hasData ? "" : " (skipped: no conformance data beside the project)"),
  ignore: !hasData,
  async fn() {
    const { metadata } = await readGguf(new URL("llama-spm.gguf", shared));
    const pieces = {
      texts: metadata["tokenizer.ggml.tokens"] as string[],
      scores: metadata["tokenizer.ggml.scores"] as Float32Array,
      kinds: metadata["tokenizer.ggml.token_type"] as Int32Array,
    };
    const original = createTokenizer(metadata);
    const texts = (await Deno.readTextFile(new URL("fuzz.inp", shared)))
      .split("\n__ggml_vocab_test__\n");
    for (
      const files of [
        { "tokenizer.json": markedBpe(pieces) },
        { "tokenizer.model": sentencePieceModel(pieces) },
      ]
    ) {
      const size = pieces.texts.length;
      const converted = await convertVocabulary({ ...files, "tokenizer_config.json": NAMES }, {
        size,
      });
      const tokenizer = tokenizerOf({ ...converted, "tokenizer.ggml.add_space_prefix": true });
      for (const text of texts) {
        assertEquals(tokenizer.encode(text), original.encode(text), text);
      }
      assert(texts.length > 200);
    }
  },
});
