// `deno task bench:peers:embed [SHAPE|FILE...] [--type Q8_0] [--texts 32x150] [--llama-server PATH]
// [--threads 2] [--pairs 5] [--alone] [--operations]`: embeddings on the CPU device, in turns with
// llama.cpp on the same file and texts. `32x150` are 32 texts of about 150 tokens. Shapes have random
// weights (embedding_models.ts). Without a path the peer is node-llama-cpp, which takes a text at a
// time; llama-server gets all in one request, and so does Quern's server. Prints medians, ratios
// of speeds to the fastest of the peer's, and how far the embeddings agree.

import { parseArgs } from "node:util";
import { loadModel, type Model, sumOperations } from "../engine/model/mod.ts";
import type { StepTrace } from "../engine/run/mod.ts";
import { EMBEDDING_SHAPES, writeEmbeddingModel } from "./embedding_models.ts";
import { openLlamaCpp } from "./llama_cpp.ts";
import { load, median, print } from "./report.ts";
import { MODEL_NAME, type RunningServer, startLlamaServer, startQuern } from "./servers.ts";
import { temporaryFolder } from "./temporary.ts";

/** Window of the models, and most tokens that llama.cpp takes in a step. */
const CONTEXT = 512;

/** Embeddings of all texts, as one of the ways to get them gives them. */
interface Way {
  readonly name: string;
  readonly isPeer: boolean;
  embed(texts: readonly string[]): Promise<readonly ArrayLike<number>[]>;
}

/** Words of letters, each a token of the synthetic vocabulary; their number varies by a half. */
function textsOf(count: number, tokens: number, seed: number): string[] {
  return Array.from({ length: count }, (_, text) => {
    const words = Math.max(1, Math.round(tokens * (0.5 + text * 97 % 101 / 100)) - 2);
    const letter = (i: number) => String.fromCharCode(97 + (i * (7 + text) + seed * 5) % 26);
    return Array.from({ length: words }, (_, i) => letter(i)).join(" ");
  });
}

/** The library, in this process. */
function libraryOf(model: Model): Way {
  return { name: "quern", isPeer: false, embed: (texts) => model.embed(texts) };
}

async function nodeLlamaCpp(path: string, threads: number): Promise<Way & AsyncDisposable> {
  const llama = await openLlamaCpp(threads);
  const model = await llama.loadModel({ modelPath: path, gpuLayers: 0 });
  const options = { contextSize: CONTEXT, batchSize: CONTEXT, threads };
  const context = await model.createEmbeddingContext(options);
  return {
    name: "node-llama-cpp",
    isPeer: true,
    async embed(texts) {
      const embeddings: number[][] = [];
      for (const text of texts) embeddings.push([...(await context.getEmbeddingFor(text)).vector]);
      return embeddings;
    },
    [Symbol.asyncDispose]: async () => {
      await context.dispose();
      await model.dispose();
      await llama.dispose();
    },
  };
}

/** A server's embeddings in OpenAI's form, as texts of numbers or as bytes. */
function openAi(server: RunningServer, format: "float" | "base64", isPeer: boolean): Way {
  return {
    name: `${server.name}, ${format}`,
    isPeer,
    async embed(input) {
      const body = { model: MODEL_NAME, input, encoding_format: format };
      const { data } = await post(`${server.url}/v1/embeddings`, body);
      return data.map(({ embedding }: { embedding: number[] | string }) =>
        typeof embedding === "string"
          ? new Float32Array(Uint8Array.fromBase64(embedding).buffer)
          : embedding
      );
    },
  };
}

function ollama(server: RunningServer): Way {
  return {
    name: `${server.name}, /api/embed`,
    isPeer: false,
    embed: async (input) =>
      (await post(`${server.url}/api/embed`, { model: MODEL_NAME, input })).embeddings,
  };
}

// deno-lint-ignore no-explicit-any -- What a server answers is its own affair.
async function post(url: string, body: object): Promise<any> {
  const headers = { "Content-Type": "application/json" };
  const answer = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`Cannot measure: ${url} answered ${answer.status}: ${text}`);
  return JSON.parse(text);
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
async function printOperations(model: Model, texts: string[]): Promise<void> {
  const steps: StepTrace[] = [];
  using _trace = model.trace((step) => steps.push(step));
  await model.embed(texts);
  for (const [name, { seconds, hostSeconds }] of sumOperations(steps, ({ name }) => name)) {
    const [all, host] = [seconds, hostSeconds].map((time) => (1000 * time).toFixed(0));
    print(`  ${name.padEnd(20)} ${all} ms, in TypeScript ${host}`);
  }
}

/** All ways, in turns. */
async function compare(ways: readonly Way[]): Promise<void> {
  const times = ways.map(() => [] as number[]);
  let least = 1;
  for (let pair = 0; pair <= pairs; pair++) {
    const texts = textsOf(count!, tokens!, pair);
    const all: (readonly ArrayLike<number>[])[] = [];
    for (const [i, way] of ways.entries()) {
      const started = performance.now();
      all.push(await way.embed(texts));
      if (pair > 0) times[i]!.push(performance.now() - started); // the first is warm-up
    }
    for (const others of all.slice(1)) {
      for (const [i, vector] of others.entries()) {
        least = Math.min(least, cosine(vector, all[0]![i]!));
      }
    }
  }
  const medians = times.map((some) => median(some));
  const best = Math.min(...medians.filter((_, i) => ways[i]!.isPeer));
  for (const [i, { name }] of ways.entries()) {
    const [time, spread] = [medians[i]!, times[i]!];
    print(
      `  ${name.padEnd(22)} ${time.toFixed(0)} ms (${Math.min(...spread).toFixed(0)} to ${
        Math.max(...spread).toFixed(0)
      }), ${(1000 * count! / time).toFixed(0)} texts a second, ${(best / time).toFixed(2)}`,
    );
  }
  print(`  least cosine ${least.toFixed(6)} (load ${load()})`);
}

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    type: { type: "string", default: "Q8_0" },
    texts: { type: "string", default: "32x150" },
    "llama-server": { type: "string" },
    // Sequences that llama-server takes at once; it has 4 by default.
    slots: { type: "string", default: "32" },
    threads: { type: "string", default: String(navigator.hardwareConcurrency) },
    pairs: { type: "string", default: "5" },
    alone: { type: "boolean", default: false },
    operations: { type: "boolean", default: false },
  },
});
const threads = Number(options.threads);
const pairs = Number(options.pairs);
const [count, tokens] = options.texts.split("x").map(Number);
for (const name of positionals.length > 0 ? positionals : ["bge-small"]) {
  using folder = temporaryFolder();
  const shape = EMBEDDING_SHAPES[name];
  const isFile = name.endsWith(".gguf");
  if (!shape && !isFile) {
    const known = Object.keys(EMBEDDING_SHAPES).join(", ");
    throw new Error(`Cannot measure "${name}": give a .gguf file or a shape: ${known}`);
  }
  const path = isFile ? name : `${folder.path}/model.gguf`;
  if (shape) await writeEmbeddingModel(path, shape, options.type);
  print(
    `${name}${
      isFile ? "" : ` ${options.type}`
    }, ${count} texts of ${tokens} tokens, ${threads} threads`,
  );
  await using stack = new AsyncDisposableStack();
  const model = await loadModel(path, { device: { kind: "cpu", threads } });
  stack.defer(() => model.close());
  const ways: Way[] = [libraryOf(model)];
  const program = options["llama-server"];
  if (program !== undefined) {
    const models = `${folder.path}/models`;
    await Deno.mkdir(models);
    const own = stack.use(await startQuern(path, { folder: models, threads }));
    ways.push(openAi(own, "float", false), openAi(own, "base64", false), ollama(own));
    // Every slot has a part of the window.
    const window = String(CONTEXT * Number(options.slots));
    const size = ["-c", window, "-np", options.slots, "-b", "2048", "-ub", "2048"];
    const peerOptions = { threads, options: ["--embedding", ...size] };
    const peer = stack.use(await startLlamaServer(program, path, peerOptions));
    ways.push(openAi(peer, "float", true), openAi(peer, "base64", true));
  } else if (!options.alone) {
    ways.push(stack.use(await nodeLlamaCpp(path, threads)));
  }
  await compare(ways);
  if (options.operations) await printOperations(model, textsOf(count!, tokens!, 0));
}
Deno.exit(0);
