// `deno task bench:peers:embed [TYPE...] [--threads 2] [--pairs 5]
// [--alone] [--operations]`: embeddings of 32 texts by a BERT of
// bge-small's shape with random weights on the CPU device, in turns with llama.cpp's CPU backend on the
// same file and texts. Prints medians, their ratio, and how far the embeddings agree.

import { parseArgs } from "node:util";
import { writeGguf } from "../engine/gguf/mod.ts";
import type { WritableMetadata, WritableTensor } from "../engine/gguf/mod.ts";
import { loadModel, type Model, sumOperations } from "../engine/model/mod.ts";
import type { StepTrace } from "../engine/run/mod.ts";
import { openLlamaCpp } from "./llama_cpp.ts";
import { randomWeights } from "./random_weights.ts";
import { load, median, print } from "./report.ts";
import { temporaryFolder } from "./temporary.ts";

const LAYERS = 12;
const WIDTH = 384;
const HEADS = 12;
const FEED_FORWARD = 1536;
const VOCABULARY = 30_522;
const CONTEXT = 512;
const TEXTS = 32;
const SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"];

/** Tokens that WordPiece demands, then one-letter words, then fillers that no text has. */
function vocabulary(): string[] {
  const words = Array.from("abcdefghijklmnopqrstuvwxyz", (letter) => `▁${letter}`);
  const fillers = VOCABULARY - SPECIAL.length - words.length;
  return [...SPECIAL, ...words, ...Array.from({ length: fillers }, (_, i) => `▁filler${i}`)];
}

function metadata(): WritableMetadata {
  return {
    "general.architecture": "bert",
    "general.name": "Synthetic BERT",
    "bert.block_count": { uint32: LAYERS },
    "bert.context_length": { uint32: CONTEXT },
    "bert.embedding_length": { uint32: WIDTH },
    "bert.feed_forward_length": { uint32: FEED_FORWARD },
    "bert.attention.head_count": { uint32: HEADS },
    "bert.attention.layer_norm_epsilon": { float32: 1e-12 },
    "bert.attention.causal": false,
    "bert.pooling_type": { uint32: 2 },
    "tokenizer.ggml.model": "bert",
    "tokenizer.ggml.pre": "jina-v2-en",
    "tokenizer.ggml.tokens": vocabulary(),
    "tokenizer.ggml.token_type": new Int32Array(VOCABULARY).fill(1).fill(3, 0, SPECIAL.length),
    "tokenizer.ggml.token_type_count": { uint32: 2 },
    "tokenizer.ggml.padding_token_id": { uint32: 0 },
    "tokenizer.ggml.unknown_token_id": { uint32: 1 },
    "tokenizer.ggml.bos_token_id": { uint32: 2 },
    "tokenizer.ggml.cls_token_id": { uint32: 2 },
    "tokenizer.ggml.eos_token_id": { uint32: 3 },
    "tokenizer.ggml.seperator_token_id": { uint32: 3 },
    "tokenizer.ggml.mask_token_id": { uint32: 4 },
  };
}

function tensors(type: string): WritableTensor[] {
  const all: WritableTensor[] = [];
  function add(name: string, shape: number[], kind: string, mean: number, deviation: number) {
    const seed = 1 + all.length * 0x9e3779b9;
    const values = shape.reduce((product, length) => product * length);
    const data = () => randomWeights(kind, values, { mean, deviation, seed });
    all.push({ name, shape, type: kind, data });
  }
  const matrix = (name: string, columns: number, rows: number) => {
    add(`${name}.weight`, [columns, rows], type, 0, 0.04);
    add(`${name}.bias`, [rows], "F32", 0, 0.02);
  };
  const norm = (name: string) => {
    add(`${name}.weight`, [WIDTH], "F32", 1, 0.05);
    add(`${name}.bias`, [WIDTH], "F32", 0, 0.02);
  };
  add("token_embd.weight", [WIDTH, VOCABULARY], type, 0, 0.05);
  add("position_embd.weight", [WIDTH, CONTEXT], "F32", 0, 0.02);
  add("token_types.weight", [WIDTH, 2], "F32", 0, 0.02);
  norm("token_embd_norm");
  for (let layer = 0; layer < LAYERS; layer++) {
    const block = `blk.${layer}`;
    for (const part of ["attn_q", "attn_k", "attn_v", "attn_output"]) {
      matrix(`${block}.${part}`, WIDTH, WIDTH);
    }
    norm(`${block}.attn_output_norm`);
    matrix(`${block}.ffn_up`, WIDTH, FEED_FORWARD);
    matrix(`${block}.ffn_down`, FEED_FORWARD, WIDTH);
    norm(`${block}.layer_output_norm`);
  }
  return all;
}

/** Texts of 100 to 200 tokens, each letter a token. */
function texts(seed: number): string[] {
  return Array.from({ length: TEXTS }, (_, text) => {
    const words = 98 + text * 97 % 101;
    const letter = (i: number) => String.fromCharCode(97 + (i * (7 + text) + seed * 5) % 26);
    return Array.from({ length: words }, (_, i) => letter(i)).join(" ");
  });
}

/** Milliseconds for all texts, and their embeddings. */
interface Measured {
  time: number;
  embeddings: (readonly number[] | Float32Array)[];
}

interface Engine extends AsyncDisposable {
  embed(texts: readonly string[]): Promise<Measured>;
}

async function openQuern(path: string, threads: number): Promise<Engine & { model: Model }> {
  const model = await loadModel(path, { device: { kind: "cpu", threads } });
  return {
    model,
    async embed(texts) {
      const started = performance.now();
      const embeddings = await model.embed([...texts]);
      return { time: performance.now() - started, embeddings };
    },
    [Symbol.asyncDispose]: () => model.close(),
  };
}

async function openPeer(path: string, threads: number): Promise<Engine> {
  const llama = await openLlamaCpp(threads);
  const model = await llama.loadModel({ modelPath: path, gpuLayers: 0 });
  const context = await model.createEmbeddingContext({
    contextSize: CONTEXT,
    batchSize: CONTEXT,
    threads,
  });
  return {
    async embed(texts) {
      const started = performance.now();
      const embeddings: number[][] = [];
      for (const text of texts) embeddings.push([...(await context.getEmbeddingFor(text)).vector]);
      return { time: performance.now() - started, embeddings };
    },
    [Symbol.asyncDispose]: async () => {
      await context.dispose();
      await model.dispose();
      await llama.dispose();
    },
  };
}

function cosine(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let [dot, first, second] = [0, 0, 0];
  for (let i = 0; i < a.length; i++) {
    dot += a[i]! * b[i]!;
    first += a[i]! ** 2;
    second += b[i]! ** 2;
  }
  return dot / Math.sqrt(first * second);
}

/** What operations take of one round of texts. */
async function printOperations({ model, embed }: Engine & { model: Model }): Promise<void> {
  const steps: StepTrace[] = [];
  using _trace = model.trace((step) => steps.push(step));
  await embed(texts(0));
  for (const [name, { seconds, hostSeconds }] of sumOperations(steps, ({ name }) => name)) {
    const [all, host] = [seconds, hostSeconds].map((time) => (1000 * time).toFixed(0));
    print(`  ${name.padEnd(20)} ${all} ms, in TypeScript ${host}`);
  }
}

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    threads: { type: "string", default: String(navigator.hardwareConcurrency) },
    pairs: { type: "string", default: "5" },
    alone: { type: "boolean", default: false },
    operations: { type: "boolean", default: false },
  },
});
const threads = Number(options.threads);
print(`bge-small's shape, ${TEXTS} texts of 100 to 200 tokens, ${threads} threads`);
print("type   quern ms  llama.cpp ms  ratio of speeds  least cosine");
for (const type of positionals.length > 0 ? positionals : ["F16", "Q8_0"]) {
  using folder = temporaryFolder();
  const path = `${folder.path}/model.gguf`;
  await writeGguf(path, metadata(), tensors(type));
  await using own = await openQuern(path, threads);
  await using peer = options.alone ? undefined : await openPeer(path, threads);
  const times: [number, number][] = [];
  let least = 1;
  for (let pair = 0; pair <= Number(options.pairs); pair++) {
    const given = texts(pair);
    const ours = await own.embed(given);
    const theirs = await peer?.embed(given);
    for (const [i, embedding] of ours.embeddings.entries()) {
      if (theirs) least = Math.min(least, cosine(embedding, theirs.embeddings[i]!));
    }
    if (pair > 0) times.push([ours.time, theirs?.time ?? NaN]); // the first is warm-up
  }
  const [ours, theirs] = [
    median(times.map(([own]) => own)),
    median(times.map(([, peer]) => peer)),
  ];
  print(
    `${type.padEnd(6)} ${ours.toFixed(0)}  ${theirs.toFixed(0)}  ${(theirs / ours).toFixed(2)}  ` +
      `${least.toFixed(6)}  (load ${load()})`,
  );
  if (options.operations) await printOperations(own);
}
Deno.exit(0);
