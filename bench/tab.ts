// `deno task bench:tab [MODEL.gguf] [--threads 2] [--pairs 3] [--tokens 48] [--only load|speed|memory]`: the
// library in a tab of a headless Chromium without WebGPU. How long the tab takes to load quern:tiny and
// answer under a schema, and to load the model from a local server; how fast it decodes, in turns with Deno
// and with wllama, llama.cpp in WebAssembly, in the same browser on the same file; and the memory of the tab.

import { parseArgs } from "node:util";
import { loadModel } from "../mod.ts";
import { npmPackageFolder } from "./npm_package.ts";
import { median, print } from "./report.ts";
import {
  call,
  COMPLETE,
  findChromium,
  ISOLATED,
  LOAD,
  PUPPETEER,
  type Timings,
  WLLAMA,
} from "./wllama.ts";

const say = (...words: string[]) => print(words.join(" "));

const PACKAGE = new URL("../dist/npm/", import.meta.url);
const TYPES: Record<string, string> = { js: "text/javascript", wasm: "application/wasm" };
const PROMPT = "The history of the river begins in the mountains, where";
const CONTEXT = 1024;

const { values, positionals: [model] } = parseArgs({
  args: Deno.args,
  allowPositionals: true,
  options: {
    threads: { type: "string", default: "2" },
    pairs: { type: "string", default: "3" },
    tokens: { type: "string", default: "48" },
    only: { type: "string" },
  },
});
const [threads, pairs, tokens] = [values.threads, values.pairs, values.tokens].map(Number);
const runs = (name: string) => values.only === undefined || values.only === name;

/** Loads a model in a tab and keeps it there. Gives the milliseconds of the load. */
const OPEN = `async ({ url, threads, contextLength }) => {
  const began = performance.now();
  const { openModelInWorker } = await import("/quern/index.js");
  globalThis.model = await openModelInWorker("model.gguf", {
    sources: { "model.gguf": url }, contextLength, maxSequences: 1, device: { kind: "cpu", threads },
  });
  return { milliseconds: performance.now() - began, device: model.device };
}`;

/** A document of a schema, and the milliseconds that it took. */
const ANSWER = `async () => {
  const began = performance.now();
  const schema = {
    type: "object",
    properties: { city: { type: "string", maxLength: 20 }, warm: { type: "boolean" } },
    required: ["city", "warm"],
  };
  let text = "";
  const messages = [{ role: "user", content: "Name a warm city." }];
  for await (const event of model.chat({ messages, temperature: 0, format: { schema } })) {
    if (event.type === "text") text += event.text;
  }
  JSON.parse(text);
  return performance.now() - began;
}`;

/** The tokens after the first one, and the milliseconds that they took. */
const DECODE = `async ({ prompt, tokens }) => {
  const request = { prompt, maxTokens: tokens + 1, temperature: 0, ignoreEnd: true };
  for await (const event of model.generate(request)) {
    if (event.type !== "done") continue;
    const { completionTokens, completionMilliseconds: milliseconds } = event.usage;
    return { tokens: completionTokens - 1, milliseconds };
  }
}`;

const wllama = runs("speed") && model ? await npmPackageFolder(WLLAMA) : "";
await using server = Deno.serve(
  { hostname: "localhost", port: 0, onListen() {} },
  async (request) => {
    const { pathname } = new URL(request.url);
    const path = pathname.startsWith("/quern/")
      ? new URL(pathname.slice("/quern/".length), PACKAGE)
      : pathname === "/model.gguf"
      ? model
      : pathname === "/index.js"
      ? `${wllama}/esm/index.js`
      : pathname === "/wllama.wasm"
      ? `${wllama}/esm/wasm/wllama.wasm`
      : undefined;
    if (!path) {
      const headers = { ...ISOLATED, "content-type": "text/html" };
      return new Response("<!doctype html><title>A tab</title>", { headers });
    }
    const file = await Deno.open(path);
    const { size } = await file.stat();
    const type = TYPES[pathname.split(".").at(-1)!] ?? "application/octet-stream";
    const headers = { ...ISOLATED, "content-type": type, "content-length": `${size}` };
    if (request.method === "HEAD") file.close();
    return new Response(request.method === "HEAD" ? null : file.readable, { headers });
  },
);
const { default: puppeteer } = await import(PUPPETEER);
const address = `http://localhost:${server.addr.port}/`;

/** A browser of its own with one tab, so that nothing is kept from the time before. */
async function openTab() {
  const browser = await puppeteer.launch({
    executablePath: findChromium(),
    args: ["--no-sandbox", "--disable-gpu"],
    protocolTimeout: 0,
  });
  const page = await browser.newPage();
  await page.goto(address);
  return { browser, page };
}

if (runs("load")) {
  const times = { tiny: [] as number[], answer: [] as number[], model: [] as number[] };
  for (let pair = 0; pair < pairs!; pair++) {
    const { browser, page } = await openTab();
    const options = { url: "/quern/quern-tiny.gguf", threads, contextLength: CONTEXT };
    const { milliseconds, device } = await page.evaluate(call(OPEN, options));
    if (pair === 0) say(device);
    times.tiny.push(milliseconds);
    times.answer.push(milliseconds + await page.evaluate(`(${ANSWER})()`));
    if (model) {
      await page.evaluate("model.close()");
      const load = await page.evaluate(call(OPEN, { ...options, url: "/model.gguf" }));
      times.model.push(load.milliseconds);
    }
    await browser.close();
  }
  const seconds = (list: number[]) => (median(list) / 1000).toFixed(2);
  say(`quern:tiny is loaded after ${seconds(times.tiny)} s`);
  say(`and has answered under a schema after ${seconds(times.answer)} s`);
  if (model) say(`${model} is fetched, kept and loaded in ${seconds(times.model)} s`);
}

if (runs("speed") && model) {
  const speeds = { deno: [] as number[], tab: [] as number[], wllama: [] as number[] };
  const loaded = await loadModel(model, {
    contextLength: CONTEXT,
    maxSequences: 1,
    device: { kind: "cpu", threads: threads! },
  });
  const inDeno = new Function(`globalThis.model = arguments[0]; return ${DECODE}`)(loaded);
  const [own, peer] = [await openTab(), await openTab()];
  await own.page.evaluate(call(OPEN, { url: "/model.gguf", threads, contextLength: CONTEXT }));
  const shape = { n_threads: threads, n_ctx: CONTEXT, n_gpu_layers: 0, n_parallel: 1 };
  const name = await peer.page.evaluate(call(LOAD, shape));
  const speedOf = (time: { tokens: number; milliseconds: number }) =>
    time.tokens / time.milliseconds * 1000;
  for (let pair = -1; pair < pairs!; pair++) {
    const request = { prompt: PROMPT, tokens };
    const deno = speedOf(await inDeno(request));
    const tab = speedOf(await own.page.evaluate(call(DECODE, request)));
    const timings: Timings = await peer.page.evaluate(call(COMPLETE, {
      prompt: PROMPT,
      max_tokens: tokens! + 1,
      temperature: 0,
      ignore_eos: true,
      cache_prompt: false,
    }));
    const other = tokens! / timings.predicted_ms * 1000;
    say(
      pair < 0 ? "warm" : `pair ${pair + 1}`,
      ...[deno, tab, other].map((n) => n.toFixed(1)),
    );
    if (pair < 0) continue;
    speeds.deno.push(deno);
    speeds.tab.push(tab);
    speeds.wllama.push(other);
  }
  const [deno, tab, other] = [speeds.deno, speeds.tab, speeds.wllama].map((list) => median(list));
  say(
    `Deno ${deno!.toFixed(1)}, tab ${tab!.toFixed(1)}, ${name} ${other!.toFixed(1)} tokens/s`,
  );
  say(
    `tab / Deno ${(tab! / deno!).toFixed(2)}, tab / wllama ${(tab! / other!).toFixed(2)}`,
  );
  await loaded.close();
  await Promise.all([own.browser.close(), peer.browser.close()]);
}

if (runs("memory") && model) {
  const { browser, page } = await openTab();
  const before = await memoryOf(browser.process()!.pid!);
  await page.evaluate(call(OPEN, { url: "/model.gguf", threads, contextLength: CONTEXT }));
  const { resident, most } = await memoryOf(browser.process()!.pid!);
  const heap: number = await page.evaluate(
    "performance.measureUserAgentSpecificMemory().then(({ bytes }) => bytes)",
  );
  const [size, grown, peak, measured] = [
    (await Deno.stat(model)).size,
    resident - before.resident,
    most - before.resident,
    heap,
  ]
    .map((bytes) => (bytes / 1e6).toFixed(0));
  say(
    `a file of ${size} MB: the tab's process grows by ${grown} MB, at most by ${peak} MB;`,
  );
  say(`the browser counts ${measured} MB of JavaScript and WebAssembly`);
  await browser.close();
}

/** The memory of the greatest renderer among the processes that a browser has started, in bytes. */
async function memoryOf(browser: number): Promise<{ resident: number; most: number }> {
  const parents = new Map<number, number>();
  for (const { name } of Deno.readDirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const stat = await Deno.readTextFile(`/proc/${name}/stat`).catch(() => "");
    parents.set(Number(name), Number(stat.split(") ")[1]?.split(" ")[1]));
  }
  let found = { resident: 0, most: 0 };
  for (const pid of parents.keys()) {
    let above = parents.get(pid);
    while (above && above !== browser) above = parents.get(above);
    const status = above ? await Deno.readTextFile(`/proc/${pid}/status`).catch(() => "") : "";
    const command = above ? await Deno.readTextFile(`/proc/${pid}/cmdline`).catch(() => "") : "";
    if (!command.includes("--type=renderer")) continue;
    const bytes = (name: string) =>
      1024 * Number(new RegExp(`^${name}:\\s*(\\d+)`, "m").exec(status)?.[1] ?? 0);
    const now = { resident: bytes("VmRSS"), most: bytes("VmHWM") };
    if (now.resident > found.resident) found = now;
  }
  return found;
}
