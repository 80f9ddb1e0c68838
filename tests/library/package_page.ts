// A page of a headless Chromium beside the files of the npm package, with or without the headers that
// isolate it, and a server that breaks off when it is told to.

import { launch } from "../web/browser.ts";

/** How the page is opened. */
export interface PageOptions {
  /** Whether the server sends the headers without which a page shares no memory between threads. */
  readonly isIsolated: boolean;
  /** Flags of Chromium's graphics. Default: there are none. */
  readonly graphics?: readonly string[];
  /** Further files by their paths on the server. */
  readonly files?: Readonly<Record<string, string>>;
}

/** An open page. */
export interface PackagePage extends AsyncDisposable {
  /** Paths that were asked for, with the ranges. */
  readonly asked: [path: string, range: string | null][];
  /** The process of the browser. */
  readonly process: number | undefined;
  /** Has the next answer of /cut.gguf, which is quern:tiny, break off. */
  cutAfter(bytes: number): void;
  /** Calls a function, whose text is given, in the page. */
  run<Result>(code: string, argument: unknown): Promise<Result>;
}

const ISOLATION = {
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-embedder-policy": "require-corp",
};

const TYPES: Record<string, string> = { js: "text/javascript", gguf: "application/octet-stream" };

/** Opens a page on which `/quern/` is the package's folder. */
export async function openPage(
  chromium: string,
  folder: string,
  { isIsolated, graphics, files = {} }: PageOptions,
): Promise<PackagePage> {
  const asked: [path: string, range: string | null][] = [];
  let cut = Infinity;
  const options = { hostname: "127.0.0.1", port: 0, onListen() {} };
  const server = Deno.serve(options, async (request) => {
    const { pathname } = new URL(request.url);
    const range = request.headers.get("range");
    asked.push([pathname, range]);
    const headers: Record<string, string> = isIsolated ? { ...ISOLATION } : {};
    if (pathname === "/") {
      return new Response("<!doctype html>", {
        headers: { ...headers, "content-type": "text/html" },
      });
    }
    const path = files[pathname] ??
      (pathname === "/cut.gguf"
        ? `${folder}/quern-tiny.gguf`
        : /^\/quern\/[\w.-]+$/.test(pathname)
        ? folder + pathname.slice("/quern".length)
        : undefined);
    if (!path) return new Response(null, { status: 404, headers });
    const { size } = await Deno.stat(path);
    const start = Number(/^bytes=(\d+)-$/.exec(range ?? "")?.[1] ?? 0);
    const file = await Deno.open(path);
    await file.seek(start, Deno.SeekMode.Start);
    headers["content-type"] = TYPES[path.split(".").at(-1)!] ?? "text/plain";
    headers["content-length"] = `${size - start}`;
    headers.etag = `"${size}"`;
    if (start > 0) headers["content-range"] = `bytes ${start}-${size - 1}/${size}`;
    const end = pathname === "/cut.gguf" ? cut : Infinity;
    if (end < Infinity) cut = Infinity;
    const body = end < Infinity ? broken(file.readable, end) : file.readable;
    return new Response(body, { headers, status: start > 0 ? 206 : 200 });
  });
  const browser = await launch(chromium, graphics);
  const page = await browser.newPage();
  page.setDefaultTimeout(0);
  await page.goto(`http://127.0.0.1:${server.addr.port}/`);
  return {
    asked,
    process: browser.process()?.pid,
    cutAfter: (bytes) => void (cut = bytes),
    async run<Result>(code: string, argument: unknown): Promise<Result> {
      const text = argument === undefined ? "" : JSON.stringify(argument);
      return await page.evaluate(`(${code})(${text})`) as Result;
    },
    async [Symbol.asyncDispose]() {
      await browser.close();
      await server.shutdown();
    },
  };
}

/** The first bytes of a stream, and then an error. */
function broken(stream: ReadableStream<Uint8Array>, bytes: number): ReadableStream<Uint8Array> {
  return ReadableStream.from((async function* () {
    let left = bytes;
    for await (const chunk of stream) {
      yield chunk.subarray(0, left);
      left -= chunk.length;
      if (left > 0) continue;
      // What was sent before has to arrive.
      await new Promise((resolve) => setTimeout(resolve, 200));
      return; // The length that the header said is not reached.
    }
  })());
}
