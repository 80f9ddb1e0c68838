// llama.cpp compiled to WebAssembly: wllama, in a headless Chromium. Its page, its module and the
// model are served from here, with the headers that a page needs to have threads.

import { npmPackageFolder } from "./npm_package.ts";
import type { PeerEngine, PeerOptions } from "./peer.ts";

/** The package. */
export const WLLAMA = "npm:@wllama/wllama@3.8.1";
/** What drives the browser. */
export const PUPPETEER = "npm:puppeteer-core@25.14.0";

const CHROMIUM = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** The headers that isolate a page, which it needs to share memory between threads. */
export const ISOLATED = {
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Embedder-Policy": "require-corp",
};

/** The times of a completion in milliseconds, without those of its messages. */
export interface Timings {
  prompt_n: number;
  prompt_ms: number;
  predicted_ms: number;
}

/** Loads a model in a browser. Errors: Error without a Chromium, or as of the browser. */
export async function openWllama(
  path: string,
  { threads, window, chunk, decodeTokens }: PeerOptions,
): Promise<PeerEngine> {
  await using resources = new AsyncDisposableStack();
  const server = resources.use(await serveFiles(path));
  const { default: puppeteer } = await import(PUPPETEER);
  const browser = await puppeteer.launch({
    executablePath: findChromium(),
    args: ["--no-sandbox", "--disable-gpu"],
    protocolTimeout: 0, // a long prompt takes minutes
  });
  resources.defer(() => browser.close());
  const page = await browser.newPage();
  await page.goto(`http://localhost:${server.addr.port}/`);
  const name: string = await page.evaluate(call(LOAD, {
    n_threads: threads,
    n_ctx: window,
    n_batch: chunk,
    n_ubatch: chunk,
    n_gpu_layers: 0,
    n_parallel: 1,
  }));
  const moved = resources.move();
  return {
    name,
    async measure(prompt, isKnown = false) {
      // It accepts only text. Tokens of the measured models are bytes, so the text has the same
      // tokens.
      const timings: Timings = await page.evaluate(call(COMPLETE, {
        prompt: String.fromCharCode(...prompt),
        max_tokens: decodeTokens + 1,
        temperature: 0,
        ignore_eos: true,
        cache_prompt: isKnown,
      }));
      if (!isKnown && timings.prompt_n !== prompt.length) {
        throw new Error(`Cannot measure wllama: it read ${timings.prompt_n} tokens`);
      }
      return {
        prefill: timings.prompt_n / timings.prompt_ms * 1000,
        // From the first token on, whose time belongs to the prompt.
        decode: decodeTokens / timings.predicted_ms * 1000,
      };
    },
    [Symbol.asyncDispose]: () => moved.disposeAsync(),
  };
}

// The code that runs in the page is text, because types of browsers are not available here.

/** A function that loads a model with the options. */
export const LOAD = `async (options) => {
  if (!crossOriginIsolated) throw new Error("The page cannot share memory");
  const { Wllama } = await import("/index.js");
  const wllama = new Wllama({ default: "/wllama.wasm" }, { suppressNativeLog: true });
  wllama.setCompat(null);
  await wllama.loadModel([await (await fetch("/model.gguf")).blob()], options);
  if (wllama.getNumThreads() !== options.n_threads) throw new Error("Threads are missing");
  globalThis.wllama = wllama;
  return "wllama " + Wllama.getLibllamaVersion() + ", " + navigator.userAgent.match(/Chrome\\/\\d+/)[0];
}`;

/** A function that completes a text and gives the times. */
export const COMPLETE =
  `async (request) => (await globalThis.wllama.createCompletion(request)).timings`;

/** The expression that calls a function of the page. */
export function call(source: string, argument: unknown): string {
  return `(${source})(${JSON.stringify(argument)})`;
}

/** Serves a page, the files of the package and a model. */
async function serveFiles(model: string): Promise<Deno.HttpServer<Deno.NetAddr>> {
  const folder = await npmPackageFolder(WLLAMA);
  const files: Record<string, [path: string, type: string]> = {
    "/index.js": [`${folder}/esm/index.js`, "text/javascript"],
    "/wllama.wasm": [`${folder}/esm/wasm/wllama.wasm`, "application/wasm"],
    "/model.gguf": [model, "application/octet-stream"],
  };
  return Deno.serve({ hostname: "localhost", port: 0, onListen: () => {} }, async ({ url }) => {
    const { pathname } = new URL(url);
    const file = files[pathname];
    if (!file) {
      const headers = { ...ISOLATED, "Content-Type": "text/html" };
      return new Response("<!doctype html><title>wllama</title>", { headers });
    }
    const [path, type] = file;
    const { readable } = await Deno.open(path);
    return new Response(readable, { headers: { ...ISOLATED, "Content-Type": type } });
  });
}

/** The path of a Chromium. Errors: Error if there is none. */
export function findChromium(): string {
  const named = Deno.env.get("QUERN_CHROMIUM");
  for (const path of named ? [named] : CHROMIUM) {
    try {
      if (Deno.statSync(path).isFile) return path;
    } catch {
      // The next one may exist.
    }
  }
  throw new Error(
    `Cannot measure wllama: no Chromium at ${CHROMIUM.join(", ")}; name one in QUERN_CHROMIUM`,
  );
}
