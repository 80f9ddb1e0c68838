// The heads of OpenAI's models that attend to where a word is spoken. Files of whisper.cpp do not name
// them, so they follow from the sizes of a model. The facts: OpenAI's whisper/__init__.py.

import type { BinHeader } from "./read_bin.ts";
import { LEAST_MULTILINGUAL } from "./vocabulary.ts";

/** Layers and heads, such as "3.1 4.2", by the layers of encoder and decoder, and the language. */
const HEADS: Readonly<Record<string, string>> = {
  "4 4 English": "1.0 2.0 2.5 3.0 3.1 3.2 3.3 3.4",
  "4 4": "2.2 3.0 3.2 3.3 3.4 3.5",
  "6 6 English": "3.3 4.7 5.1 5.5 5.7",
  "6 6": "3.1 4.2 4.3 4.7 5.1 5.2 5.4 5.6",
  "12 12 English": "6.6 7.0 7.3 7.8 8.2 8.5 8.7 9.0 9.4 9.8 9.10 10.0 10.1 10.2 10.3 10.6 10.11 " +
    "11.2 11.4",
  "12 12": "5.3 5.9 8.0 8.4 8.7 8.8 9.0 9.7 9.9 10.5",
  "24 24 English": "11.4 14.1 14.12 14.14 15.4 16.0 16.4 16.9 17.12 17.14 18.7 18.10 18.15 20.0 " +
    "20.3 20.9 20.14 21.12",
  "24 24": "13.15 15.4 15.15 16.1 20.0 23.4",
  // The third large model, and its smaller decoder. The first two have one size, but other heads.
  "32 32 128": "7.0 10.17 12.18 13.12 16.1 17.14 19.11 21.4 24.1 25.6",
  "32 4 128": "2.4 2.11 3.3 3.6 3.11 3.14",
};

/** Layer and head of each in turn; undefined if the model is none of those. */
export function alignmentHeads(
  { encoderLayers, decoderLayers, bins, vocabulary }: BinHeader["sizes"],
): Uint32Array | undefined {
  const kind = [
    ...[encoderLayers, decoderLayers],
    ...vocabulary < LEAST_MULTILINGUAL ? ["English"] : [],
    ...bins === 80 ? [] : [bins],
  ].join(" ");
  const heads = Object.hasOwn(HEADS, kind) ? HEADS[kind] : undefined;
  return heads === undefined ? undefined : Uint32Array.from(heads.split(/[. ]/), Number);
}
