// Other tokenizers in JavaScript, for comparison, built in memory from the same vocabulary. Their
// packages are named here, so that users do not install them. Those that do not load are left out.

import type { Metadata } from "../tokenizer/mod.ts";

/** Another tokenizer. */
export interface Peer {
  readonly name: string;
  /** Token ids of `text`, no special tokens. */
  encode(text: string): ArrayLike<number>;
}

const HUGGING_FACE = "npm:@huggingface/tokenizers@0.2.0";
const TIKTOKEN = "npm:js-tiktoken@1.0.21";

const contraction = "(?i:'s|'t|'re|'ve|'m|'ll|'d)";
const lead = String.raw`[^\r\n\p{L}\p{N}]?`;
const tail = String.raw` ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`;
const upper = String.raw`[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]`;
const lower = String.raw`[\p{Ll}\p{Lm}\p{Lo}\p{M}]`;

/** The pretokenization in the models' own files, by `tokenizer.ggml.pre`. */
const EXPRESSIONS: Readonly<Record<string, string>> = {
  "llama-bpe": String.raw`${contraction}|${lead}\p{L}+|\p{N}{1,3}|${tail}`,
  "qwen2": String.raw`${contraction}|${lead}\p{L}+|\p{N}|${tail}`,
  "gpt-4o": `${lead}${upper}*${lower}+${contraction}?|${lead}${upper}+${lower}*${contraction}?|` +
    String.raw`\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`,
};

async function loadOrNothing<T>(load: () => Promise<T>): Promise<T | undefined> {
  try {
    return await load();
  } catch {
    return undefined;
  }
}

/** The tokenizer of Hugging Face for a byte-level vocabulary, if its rule is known here. */
function openHuggingFace(metadata: Metadata): Promise<Peer | undefined> {
  const pre = String(metadata["tokenizer.ggml.pre"]);
  const expression = EXPRESSIONS[pre];
  if (expression === undefined) return Promise.resolve(undefined);
  return loadOrNothing(async () => {
    const { Tokenizer } = await import(HUGGING_FACE);
    const pieces = metadata["tokenizer.ggml.tokens"] as readonly string[];
    const merges = metadata["tokenizer.ggml.merges"] as readonly string[];
    const split = { type: "Split", pattern: { Regex: expression }, behavior: "Isolated" };
    const byteLevel = { type: "ByteLevel", add_prefix_space: false, use_regex: false };
    const tokenizer = new Tokenizer({
      version: "1.0",
      added_tokens: [],
      normalizer: null,
      pre_tokenizer: {
        type: "Sequence",
        pretokenizers: [{ ...split, invert: false }, { ...byteLevel, trim_offsets: true }],
      },
      post_processor: null,
      decoder: { type: "ByteLevel" },
      model: {
        type: "BPE",
        vocab: Object.fromEntries(pieces.map((piece, id) => [piece, id])),
        merges: merges.map((merge) => merge.split(" ")),
        ignore_merges: pre === "llama-bpe",
      },
    }, {});
    return {
      name: "@huggingface/tokenizers",
      encode: (text: string) => tokenizer.encode(text, { add_special_tokens: false }).ids,
    };
  });
}

/** js-tiktoken, which has one of our vocabularies. */
function openTiktoken(metadata: Metadata): Promise<Peer | undefined> {
  if (metadata["tokenizer.ggml.pre"] !== "gpt-4o") return Promise.resolve(undefined);
  return loadOrNothing(async () => {
    const { Tiktoken } = await import(`${TIKTOKEN}/lite`);
    const { default: ranks } = await import(`${TIKTOKEN}/ranks/o200k_base`);
    const tokenizer = new Tiktoken(ranks);
    return { name: "js-tiktoken", encode: (text: string) => tokenizer.encode(text, [], []) };
  });
}

/** The tokenizers to compare for a vocabulary. */
export async function openPeers(metadata: Metadata): Promise<Peer[]> {
  if (metadata["tokenizer.ggml.model"] !== "gpt2") return [];
  const peers = await Promise.all([openHuggingFace(metadata), openTiktoken(metadata)]);
  return peers.filter((peer) => peer !== undefined);
}
