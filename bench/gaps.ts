// `deno task bench:gaps [TYPE|FILE...] [--shape 135m] [--threads 2] [--answers 2] [--prompt 8000] [--most 150] [--http]`:
// how long running answers wait for a token while a long prompt is read beside them, on the CPU: a model
// with random weights, or a file. Prints the gaps between texts of each answer (median, the 99th of a
// hundred, the greatest), before the prompt came and beside it, and how fast it was read. With --http from
// the streams of a server in a process of its own. A gap above --most milliseconds is a failure. Not to be
// run by a real-time schedule (chrt): Linux holds such programs up for 50 ms of each second.

import { parseArgs } from "node:util";
import { loadModel } from "../engine/model/load_model.ts";
import { load, print } from "./report.ts";
import { MODEL_NAME, startQuern } from "./servers.ts";
import { SHAPES, writeSyntheticLlama } from "./synthetic_model.ts";
import { temporaryFolder } from "./temporary.ts";

/** Milliseconds of answers alone, before the long prompt comes. */
const ALONE = 3000;

/** What answers. `take` is called with each text; if it returns false, the answer is stopped. */
type Answer = (prompt: string, tokens: number, take: () => boolean) => Promise<void>;

async function openEngine(path: string): Promise<{ answer: Answer } & AsyncDisposable> {
  const model = await loadModel(path, {
    contextLength: window,
    maxSequences: answers + 1,
    device: { kind: "cpu", threads },
  });
  const answer: Answer = async (prompt, maxTokens, take) => {
    const request = { prompt, maxTokens, temperature: 0, ignoreEnd: true };
    for await (const event of model.generate(request)) {
      if (event.type === "text" && !take()) break;
    }
  };
  return { answer, [Symbol.asyncDispose]: () => model.close() };
}

async function openServer(path: string): Promise<{ answer: Answer } & AsyncDisposable> {
  const folder = temporaryFolder();
  const server = await startQuern(path, {
    folder: folder.path,
    threads,
    env: { OLLAMA_NUM_PARALLEL: String(answers + 1), OLLAMA_CONTEXT_LENGTH: String(window) },
  });
  const answer: Answer = async (prompt, tokens, take) => {
    const stop = new AbortController();
    const options = { temperature: 0, num_predict: tokens };
    const response = await fetch(`${server.url}/api/generate`, {
      method: "POST",
      body: JSON.stringify({ model: MODEL_NAME, raw: true, prompt, options }),
      signal: stop.signal,
    });
    if (!response.ok) throw new Error(`Cannot measure: ${await response.text()}`);
    for await (const text of response.body!.pipeThrough(new TextDecoderStream())) {
      for (const line of text.trimEnd().split("\n")) {
        if (!line.endsWith('"done":false}') || take()) continue;
        stop.abort();
        return;
      }
    }
  };
  const dispose = () => {
    server[Symbol.dispose]();
    folder[Symbol.dispose]();
    return Promise.resolve();
  };
  return { answer, [Symbol.asyncDispose]: dispose };
}

/** The median, the 99th of a hundred and the greatest of some times. */
function quantiles(times: readonly number[]): [middle: number, high: number, most: number] {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number) =>
    sorted[Math.min(sorted.length - 1, sorted.length * share | 0)] ?? NaN;
  return [at(0.5), at(0.99), at(1)];
}

async function measure(path: string, type: string): Promise<boolean> {
  await using opened = await (options.http ? openServer : openEngine)(path);
  const { answer } = opened;
  const textOf = (seed: number, length: number) =>
    String.fromCharCode(...Array.from({ length }, (_, i) => 33 + (i * 7919 + i * i * seed) % 90));
  await answer(textOf(3, 600), 32, () => true); // loads the model, and compiles what runs often
  let [came, read] = [Infinity, Infinity];
  const gaps: { alone: number[]; beside: number[] } = { alone: [], beside: [] };
  const running = Array.from({ length: answers }, async (_, index) => {
    let last = Infinity;
    await answer(textOf(5 + index, 40), window - 100, () => {
      const now = performance.now();
      if (now > last) gaps[now < came ? "alone" : "beside"].push(now - last);
      last = now;
      return now < read;
    });
    if (read === Infinity) {
      throw new Error("Cannot measure: an answer ended before the prompt was read");
    }
  });
  const prompted = new Promise((resolve) => setTimeout(resolve, ALONE)).then(async () => {
    came = performance.now();
    await answer(textOf(97, promptTokens), 1, () => (read = performance.now()) > 0);
  });
  await Promise.all([...running, prompted]);
  const [alone, beside] = [quantiles(gaps.alone), quantiles(gaps.beside)];
  const cells = [alone, beside].map((all) => all.map((ms) => ms.toFixed(0).padStart(4)).join(" "));
  const rate = (1000 * promptTokens / (read - came)).toFixed(0);
  print(`${type.padEnd(8)} ${cells.join("   ")}   ${rate} tokens/s    (load ${load()})`);
  return beside[2] <= Number(options.most);
}

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    shape: { type: "string", default: "135m" },
    threads: { type: "string", default: String(navigator.hardwareConcurrency) },
    answers: { type: "string", default: "2" },
    prompt: { type: "string", default: "8000" },
    most: { type: "string", default: "150" },
    http: { type: "boolean", default: false },
  },
});
const found = SHAPES[options.shape];
if (!found) throw new Error(`Cannot measure "${options.shape}": shapes are ${Object.keys(SHAPES)}`);
const [threads, answers, promptTokens] = [options.threads, options.answers, options.prompt]
  .map(Number) as [number, number, number];
/** Answers are to last until the prompt was read. */
const window = promptTokens + 4096;
const shape = { ...found, context: Math.max(found.context, window) };
print(
  `${answers} answers beside a prompt of ${promptTokens}, ${threads} threads, load ${load()}; gaps in ms:`,
);
print("type     before: median 99 % most   beside it   prompt");
let isWithin = true;
for (const type of positionals.length > 0 ? positionals : ["Q4_K"]) {
  using folder = temporaryFolder();
  const isFile = type.endsWith(".gguf");
  const path = isFile ? type : `${folder.path}/model.gguf`;
  if (!isFile) await writeSyntheticLlama(path, shape, { type });
  isWithin = await measure(path, type) && isWithin;
}
Deno.exit(isWithin ? 0 : 1);
