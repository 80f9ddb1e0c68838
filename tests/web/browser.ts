// A Chromium without a window for the judgment of the page, a server to open it on, and between them a
// proxy that writes what no model would write when it is asked to.

import puppeteer, { type Browser, type Page } from "puppeteer-core";
import { PROJECT_ROOT } from "../source_files.ts";

const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** Where a browser is; undefined where none is found. QUERN_CHROMIUM names another. */
export function findChromium(): string | undefined {
  const named = Deno.env.get("QUERN_CHROMIUM");
  return [...named ? [named] : [], ...PLACES].find((path) => {
    try {
      return Deno.statSync(path).isFile;
    } catch {
      return false;
    }
  });
}

/** A microphone that beeps, and nobody who would have to allow it. */
const MICROPHONE = ["--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream"];

/** Starts the browser, by default without a GPU. */
export async function launch(
  executablePath: string,
  graphics: readonly string[] = ["--disable-gpu"],
): Promise<Browser> {
  return await puppeteer.launch({
    executablePath,
    args: ["--no-sandbox", ...MICROPHONE, ...graphics],
  });
}

/** A page, and what it did that it should not. */
export interface Watched {
  page: Page;
  /** Addresses of requests that left the origin. */
  strays: string[];
  /** Errors in the console, and those that nothing caught. */
  errors: string[];
}

/** Opens a page whose requests and errors are written down. */
export async function openWatched(browser: Browser, origin: string): Promise<Watched> {
  const context = await browser.createBrowserContext();
  const page = await context.newPage();
  const strays: string[] = [];
  const errors: string[] = [];
  page.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(origin) && !/^(data|blob|about):/.test(url)) strays.push(url);
  });
  page.on("console", (message) => {
    if (message.type() === "error") {
      errors.push(`${message.text()} ${message.location().url ?? ""}`);
    }
  });
  page.on("pageerror", (error) => errors.push(String(error)));
  await page.setViewport({ width: 1280, height: 860 });
  return { page, strays, errors };
}

/** A server of its own process, with an empty store. */
export interface Served extends AsyncDisposable {
  url: string;
}

/** Starts `quern serve`. */
export async function serve(environment: Record<string, string> = {}): Promise<Served> {
  const folder = await Deno.makeTempDir();
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", "mod.ts", "serve"],
    cwd: PROJECT_ROOT,
    env: {
      QUERN_DEVICE: "cpu",
      OLLAMA_HOST: "127.0.0.1:0",
      QUERN_MODELS: folder,
      NO_COLOR: "1",
      ...environment,
    },
    stdout: "null",
    stderr: "piped",
  }).spawn();
  const lines = child.stderr.pipeThrough(new TextDecoderStream());
  const found = Promise.withResolvers<string>();
  void (async () => {
    let text = "";
    for await (const piece of lines) {
      text += piece;
      const [, url] = /listening on (http:\S+?),/.exec(text) ?? [];
      if (url) found.resolve(url);
    }
    found.reject(new Error(`the server ended: ${text}`));
  })();
  return {
    url: await found.promise,
    async [Symbol.asyncDispose]() {
      child.kill("SIGINT");
      await child.status;
      await Deno.remove(folder, { recursive: true });
    },
  };
}

/** Questions that the proxy answers itself. */
export interface Script {
  /**
   * The pieces of the answer, each a text or what else a message may have; the time between two in
   * milliseconds; and more that the last record tells.
   */
  [question: string]: {
    pieces: (string | object)[];
    pause: number;
    last?: Record<string, unknown>;
  };
}

/** A proxy before a server that answers the questions of a script. */
export function proxy(upstream: string, script: Script): Served {
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, async (request) => {
    const { pathname, search } = new URL(request.url);
    const body = ["GET", "HEAD"].includes(request.method) ? undefined : await request.bytes();
    const question = pathname === "/api/chat" &&
      JSON.parse(new TextDecoder().decode(body!)).messages?.at(-1)?.content;
    const scripted = typeof question === "string" ? script[question] : undefined;
    if (scripted) return new Response(answer(scripted).pipeThrough(new TextEncoderStream()));
    const headers = new Headers(request.headers);
    headers.delete("host");
    headers.delete("origin");
    headers.set("accept-encoding", "identity");
    return await fetch(upstream + pathname + search, {
      method: request.method,
      headers,
      ...(body !== undefined && { body }),
    });
  });
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

function answer({ pieces, pause, last }: Script[string]): ReadableStream<string> {
  return ReadableStream.from((async function* () {
    for (const piece of pieces) {
      const more = typeof piece === "string" ? { content: piece } : piece;
      yield JSON.stringify({ message: { role: "assistant", ...more }, done: false }) + "\n";
      if (pause > 0) await new Promise((resolve) => setTimeout(resolve, pause));
    }
    const counts = { prompt_eval_count: 20, eval_count: pieces.length, eval_duration: 1e9 };
    yield JSON.stringify({
      message: { content: "" },
      done: true,
      done_reason: "stop",
      ...counts,
      ...last,
    }) +
      "\n";
  })());
}
