// Vocabularies for the fuzz tests: two small ones that are made here, of the two kinds that models
// have, with pieces that cross the borders of JSON; and those of the conformance data.

import { loadTokenizer } from "../../../../engine/mod.ts";
import { createTokenizer, type Tokenizer } from "../../../../tokenizer/mod.ts";
import {
  byteCharacters,
  bytePairs,
  dataRoot,
  kind,
  type Piece,
  sentencePiece,
} from "../../../tokenizer/vocabularies.ts";

/** A vocabulary with the bytes of its tokens at hand. */
export interface Vocabulary {
  readonly name: string;
  readonly tokenizer: Tokenizer;
  /** By token. */
  readonly bytes: readonly Uint8Array[];
  /** Short tokens with a quote, bracket, colon or comma. */
  readonly structural: readonly number[];
}

const STRUCTURE = [
  ...['":', '": ', '":"', '": "', '","', '", "', '"}', '"]', '"},', '"],', '"}]', '""', '"",'],
  ...['{"', '{ "', "{}", "[]", "[[", "]]", "}}", "]}", "},", "],", '},{"', '["', '","a', '"a":'],
  ...['{"a":', '","b":', ',"', ', "', ",1", ":1,", ':1,"', ":null", ':true,"', ": {", ": [", ":[{"],
  ...[" ", "  ", "    ", "\n", "\n\n", "\n  ", ",\n", "\t", "\r\n", ",\n    ", " ".repeat(40)],
  ...["\\n", '\\"', "\\\\", "\\u00", "\\u001", "\\t", 'x"', 'a","', 'ab"]', '"a","a"', '1,"'],
];
const WORDS = [
  ..."the of and to in name type kind id value item items key data true false null tru fals nul",
].join("").split(" ").concat(
  ["foo", "bar", "a-b", "x-", "_a", "left", "right", "next", "abc", "ab", "aa", "Zz", " the", " a"],
  ["é", "ü", "ß", "ñ", "漢", "漢字", "😀", "👍🏽", "a\u0301", "\u2028", "\u007f", "\uffff", "\ue000"],
  [
    "http://",
    "https://",
    "www.",
    ".com",
    "@",
    "2024",
    "-01-",
    "T00:",
    ":00Z",
    "::",
    "127.0.",
    "0x",
  ],
);
const NUMBERS = [
  "10",
  "12",
  "00",
  "99",
  "-1",
  "1.",
  ".5",
  "0.",
  "1e",
  "e+",
  "E-",
  "100",
  "1234567",
];

/** Parts of characters, which byte-level pieces may begin or end with. */
const FRAGMENTS = [
  [0xc3],
  [0xf0, 0x9f],
  [0x9f, 0x98],
  [0x98, 0x80],
  [0x80, 0x22],
  [0xa9, 0x22, 0x2c],
  [0x61, 0xe6, 0xbc],
  [0xa2, 0x61],
  [0xed, 0xa0],
  [0xed, 0x9f],
  [0xc0, 0x80],
  [0xf4, 0x90],
  [0x22, 0x3a, 0x22, 0xf0],
  [0xa9, 0xc3],
].map((bytes) => Uint8Array.from(bytes));

const texts = [...new Set([...STRUCTURE, ...WORDS, ...NUMBERS])];

const STRUCTURAL = new Set(new TextEncoder().encode('"[]{}:,'));

function vocabularyOf(name: string, tokenizer: Tokenizer): Vocabulary {
  const bytes = Array.from(
    { length: tokenizer.vocabularySize },
    (_, token) => tokenizer.tokenBytes(token),
  );
  const structural = [...bytes.keys()].filter((token) =>
    bytes[token]!.length <= 3 && bytes[token]!.some((byte) => STRUCTURAL.has(byte))
  );
  return { name, tokenizer, bytes, structural };
}

/** Byte-level BPE: a token for each byte, pieces that may cut a character, two end tokens. */
export function bytePairVocabulary(): Vocabulary {
  const encoder = new TextEncoder();
  const spelled = [...texts.map((text) => encoder.encode(text)), ...FRAGMENTS]
    .filter((bytes) => bytes.length > 1)
    .map((bytes): Piece => [Array.from(bytes, (byte) => byteCharacters[byte]!).join("")]);
  const ends: Piece[] = [["<|endoftext|>", kind.control], ["<|im_end|>", kind.control]];
  const metadata = bytePairs([], [...spelled, ...ends, ["<|im_start|>", kind.control]], {
    "tokenizer.ggml.eos_token_id": 256 + spelled.length,
  });
  return vocabularyOf("byte-level BPE", createTokenizer(metadata));
}

/** SentencePiece: pieces of whole characters, and a token for each byte beside them. */
export function sentencePieceVocabulary(): Vocabulary {
  const letters = Array.from({ length: 94 }, (_, index) => String.fromCharCode(33 + index));
  const pieces = [...new Set([" ", ...letters, ...texts])]
    .map((text): Piece => [text.replaceAll(" ", "▁")]);
  const metadata = sentencePiece([...pieces, ["<tool>", kind.userDefined]], {
    "tokenizer.ggml.eos_token_id": 2,
  });
  return vocabularyOf("SentencePiece", createTokenizer(metadata));
}

/** A vocabulary of the conformance data, such as "llama-bpe". */
export async function sharedVocabulary(name: string): Promise<Vocabulary> {
  return vocabularyOf(name, await loadTokenizer(new URL(`tokenizers/${name}.gguf`, dataRoot)));
}
