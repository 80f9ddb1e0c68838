// decode() undoes encode() wherever a vocabulary can express a text, streams never give half a
// character, and damaged vocabularies neither crash nor hang.

import { assert, assertEquals } from "@std/assert";
import { createTokenizer, type Tokenizer } from "../../tokenizer/mod.ts";
import { randomText, seeded } from "./random_texts.ts";
import {
  byteCharacters,
  bytePairs,
  bytePieces,
  kind,
  type Piece,
  sentencePiece,
  vocabulary,
} from "./vocabularies.ts";

/** Merges that join parts of characters too, so that tokens end inside of them. */
function randomMerges(): string[] {
  const random = seeded(1);
  const symbols = [...byteCharacters];
  const merges: string[] = [];
  while (merges.length < 400) {
    const left = symbols[random(symbols.length)]!;
    const right = symbols[random(symbols.length)]!;
    merges.push(`${left} ${right}`);
    symbols.push(left + right);
  }
  return merges;
}

const common = [
  "a",
  "e",
  "é",
  "▁",
  "▁▁",
  "▁a",
  "中",
  "文",
  "中文",
  "🙂",
  "\u0301",
  "e\u0301",
  "\n",
];

const tokenizers: Readonly<Record<string, Tokenizer>> = {
  "byte-level": createTokenizer(bytePairs(randomMerges())),
  "byte-level with whole words": createTokenizer(
    bytePairs(randomMerges(), [["Ġhello"]], { "tokenizer.ggml.pre": "llama-bpe" }),
  ),
  "byte-level with several cutters": createTokenizer(
    bytePairs(randomMerges(), [], { "tokenizer.ggml.pre": "deepseek-llm" }),
  ),
  "byte fallback": createTokenizer(
    sentencePiece(common.map((piece, index): Piece => [piece, kind.normal, -index])),
  ),
  "byte fallback of merges": createTokenizer(
    vocabulary("gemma4", [...bytePieces, ...common.map((piece): Piece => [piece])], {
      "tokenizer.ggml.merges": ["▁ ▁", "▁ a", "中 文", "e \u0301"],
    }),
  ),
};

for (const [name, tokenizer] of Object.entries(tokenizers)) {
  Deno.test(`decode() undoes encode() for 2000 random texts, ${name}`, () => {
    const random = seeded(2);
    for (let count = 0; count < 2000; count++) {
      // What is written as the mark of a space comes back as one.
      const text = randomText(random, 40).replaceAll("▁", "");
      const ids = tokenizer.encode(text, { special: false });
      assertEquals(tokenizer.decode(ids), text);
    }
  });

  Deno.test(`push() gives whole characters only for 2000 random texts, ${name}`, () => {
    const random = seeded(3);
    for (let count = 0; count < 2000; count++) {
      const text = randomText(random, 20).replaceAll(/[▁\ufffd]/g, "");
      const decoder = tokenizer.streamDecoder({ textStart: true });
      let whole = "";
      for (const id of tokenizer.encode(text, { special: false })) {
        const part = decoder.push(id);
        assert(part.isWellFormed() && !part.includes("\ufffd"), JSON.stringify(text));
        whole += part;
      }
      assertEquals(whole + decoder.flush(), text);
    }
  });

  Deno.test(`decode() takes any ids in any order, ${name}`, () => {
    const random = seeded(4);
    for (let count = 0; count < 500; count++) {
      const ids = Array.from({ length: 30 }, () => random(tokenizer.vocabularySize));
      assert(tokenizer.decode(ids).isWellFormed());
      const decoder = tokenizer.streamDecoder({ textStart: true });
      const parts = ids.map((id) => decoder.push(id));
      assertEquals(parts.join("") + decoder.flush(), tokenizer.decode(ids));
    }
  });
}

Deno.test("createTokenizer() bears vocabularies with pieces, kinds and merges at random", () => {
  const random = seeded(6);
  const texts = Array.from({ length: 20 }, () => randomText(random, 30));
  for (let round = 0; round < 300; round++) {
    const pieces = Array.from(
      { length: 1 + random(60) },
      (): Piece => [
        ["", "a", " ", "▁", "<0x41>", "<0x", "\0", "e\u0301", "\ud83d"][random(9)]! +
        randomText(random, 2),
        random(8),
        [0, -1, NaN, Infinity, -Infinity, random(100)][random(6)]!,
      ],
    );
    const piece = () => pieces[random(pieces.length)]![0];
    const merges = Array.from({ length: random(40) }, () => `${piece()} ${piece()}`);
    const model = ["llama", "gpt2", "gemma4", "bert", "t5"][random(5)]!;
    const tokenizer = createTokenizer(vocabulary(model, pieces, {
      "tokenizer.ggml.merges": merges,
      "tokenizer.ggml.bos_token_id": random(100),
      "tokenizer.ggml.unknown_token_id": random(100),
    }));
    for (const text of texts) {
      const ids = tokenizer.encode(text, { bos: true, eos: true, special: random(2) === 0 });
      assert(ids.every((id) => Number.isInteger(id) && id >= 0 && id < pieces.length), model);
      assert(tokenizer.decode(ids, { special: true }).isWellFormed());
    }
  }
});
