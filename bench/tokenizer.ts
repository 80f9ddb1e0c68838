// `deno task bench:tokenizer [FILE.gguf ...]`: how long vocabularies take to load, and how fast they
// encode, beside other tokenizers. Without files it takes the conformance data beside the project.
// Ours starts each text with an empty cache; peers keep theirs, and get shorter texts because they
// take longer, which favours those whose time grows with the square of a word.

import { fileURLToPath } from "node:url";
import { readGguf } from "../engine/gguf/mod.ts";
import { createTokenizer, type Metadata } from "../tokenizer/mod.ts";
import { openPeers, type Peer } from "./tokenizer_peers.ts";
import { benchmarkTexts, hostileTexts } from "./tokenizer_texts.ts";

/** Lengths in UTF-16 units. */
const TEXT_LENGTH = 1_000_000;
const PEER_TEXT_LENGTH = 100_000;
const PEER_HOSTILE_LENGTH = 1_000;
const REPEATS = 8;
const PEER_REPEATS = 2;

const DATA = new URL("../../shared/data/tokenizers/", import.meta.url);
const VOCABULARIES = ["gpt-4o", "llama-bpe", "qwen2", "deepseek-llm", "llama-spm", "bert-bge"];

const texts = benchmarkTexts(TEXT_LENGTH);
const hostile = hostileTexts(TEXT_LENGTH);

/** The shortest of several times that `run` takes after `prepare`, in milliseconds. */
function shortest<T>(repeats: number, prepare: () => T, run: (prepared: T) => void): number {
  let best = Infinity;
  for (let repeat = 0; repeat < repeats; repeat++) {
    const prepared = prepare();
    const start = performance.now();
    run(prepared);
    best = Math.min(best, performance.now() - start);
  }
  return best;
}

function megabytesPerSecond(text: string, milliseconds: number): string {
  return (new TextEncoder().encode(text).length / milliseconds / 1000).toPrecision(3);
}

function print(line: string): Promise<number> {
  return Deno.stdout.write(new TextEncoder().encode(line + "\n"));
}

/** Speed of a peer in MB/s, marked where its ids are not ours. */
function measurePeer(peer: Peer, text: string, expected: readonly number[]): string {
  const agrees = Array.from(peer.encode(text)).join() === expected.join();
  const time = shortest(PEER_REPEATS, () => text, (text) => peer.encode(text));
  return `${peer.name} ${megabytesPerSecond(text, time)}${agrees ? "" : " (other ids)"}`;
}

async function measure(name: string, metadata: Metadata): Promise<void> {
  const open = () => {
    const tokenizer = createTokenizer(metadata);
    // The first use builds tables.
    tokenizer.encode("Xyzzyqu 中ö🙂");
    return tokenizer;
  };
  const tokenizer = open();
  const peers = await openPeers(metadata);
  const load = shortest(REPEATS, () => undefined, open).toFixed(0);
  await print(`| ${name} | load: ${load} ms | | |`);
  for (const [kind, text] of Object.entries({ ...texts, ...hostile })) {
    const time = shortest(REPEATS, open, (tokenizer) => tokenizer.encode(text));
    const length = kind in hostile ? PEER_HOSTILE_LENGTH : PEER_TEXT_LENGTH;
    const short = text.slice(0, length).toWellFormed();
    const expected = tokenizer.encode(short, { special: false });
    const others = peers.map((peer) => measurePeer(peer, short, expected));
    await print(
      `| ${name} | ${kind} | ${megabytesPerSecond(text, time)} | ${others.join(", ")} |`,
    );
  }
}

/** A Unigram vocabulary of the words of the English text, since there is no such file. */
function makeUnigram(): Metadata {
  const counts = new Map<string, number>();
  for (const word of texts.English!.match(/\S+/g)!) {
    counts.set(`▁${word}`, (counts.get(`▁${word}`) ?? 0) + 1);
  }
  const total = counts.size * 2;
  const letters = Array.from({ length: 94 }, (_, index) => String.fromCharCode(33 + index));
  const pieces = ["<pad>", "</s>", "<unk>", "▁", ...letters, ...counts.keys()];
  return {
    "tokenizer.ggml.model": "t5",
    "tokenizer.ggml.tokens": pieces,
    "tokenizer.ggml.token_type": Int32Array.from(pieces, (_, id) => id < 2 ? 3 : id === 2 ? 2 : 1),
    "tokenizer.ggml.scores": Float32Array.from(
      pieces,
      (piece) => Math.log((counts.get(piece) ?? 0.5) / total),
    ),
    "tokenizer.ggml.add_space_prefix": true,
    "tokenizer.ggml.remove_extra_whitespaces": true,
  };
}

const files = Deno.args.length > 0
  ? Deno.args
  : VOCABULARIES.map((name) => fileURLToPath(new URL(`${name}.gguf`, DATA)));

await print(`Deno ${Deno.version.deno}, ${navigator.hardwareConcurrency} cores, one thread\n`);
await print("| vocabulary | text | Quern MB/s | peers MB/s |\n|---|---|---|---|");
for (const path of files) {
  const name = path.replace(/^.*[\\/]|\.gguf$/g, "");
  try {
    const start = performance.now();
    const { metadata } = await readGguf(path);
    await print(`| ${name} | read the file: ${(performance.now() - start).toFixed(0)} ms | | |`);
    await measure(name, metadata);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    await print(`| ${name} | no such file | | |`);
  }
}
await measure("Unigram of English words", makeUnigram());
