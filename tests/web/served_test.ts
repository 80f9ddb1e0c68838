// The page as the server hands it out: that its files are those of its sources, how they are encoded
// and kept, what the documents may do, and how much there is of it.

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { buildPage, nameChunks } from "../../web/build.ts";
import { createTestApp, ringOf } from "../server/test_app.ts";

const ASSETS = new URL("../../server/http/web/assets/", import.meta.url);

/** Bytes of all files. */
const MOST_BYTES = 400_000;

/** What the first view takes. */
const MOST_FIRST_BYTES = 80_000;

const documents = ["/", "/docs"];

function openPage(options: Parameters<typeof createTestApp>[1] = {}) {
  const { app } = createTestApp({}, options);
  return async (path: string, headers: Record<string, string> = {}) =>
    await app.request(path, { headers: { accept: "text/html", ...headers } });
}

/** The files that a document names. */
function filesOf(document: string): string[] {
  return [...document.matchAll(/(?:src|href|content)="(\/web\/[^"]+)"/g)].map(([, path]) => path!);
}

Deno.test("the files of the page are those that its sources give, byte by byte", async () => {
  const built = await buildPage();
  const kept = [...Deno.readDirSync(ASSETS)].map(({ name }) => name).sort();
  const message = "run: deno task web:build";
  assertEquals(kept, built.map(([name]) => `${name}.br`).sort(), message);
  for (const [name, content] of built) {
    const there = brotliDecompressSync(Deno.readFileSync(new URL(`${name}.br`, ASSETS)));
    assert(there.equals(content), `${name}: ${message}`);
  }
});

Deno.test("names of chunks depend on what is in them, and not on the bundler's hashes", () => {
  // Two chunks that import each other, and a third that only one of them imports.
  const bundle = (a: string, b: string, c: string, text = "1") =>
    nameChunks(
      new Map([
        ["main.js", `import"./view-${a}.js"`],
        [`view-${a}.js`, `import("./chunk-${b}.js");import"./chunk-${c}.js"`],
        [`chunk-${b}.js`, `import"./view-${a}.js"`],
        [`chunk-${c}.js`, text],
      ]),
    ).map(([name, content]) => [name, new TextDecoder().decode(content)]);
  const bundled = bundle("AAAAAAAA", "BBBBBBBB", "CCCCCCCC");
  assertEquals(bundle("00000009", "00000007", "00000008"), bundled);
  const other = bundle("AAAAAAAA", "BBBBBBBB", "CCCCCCCC", "2");
  const names = new Set(bundled.map(([name]) => name));
  assertEquals(other.map(([name]) => name).filter((name) => names.has(name!)), ["main.js"]);
  for (const [, text] of bundled) {
    for (const [name] of text!.matchAll(/\w+-\w+\.js/g)) assert(names.has(name), name);
  }
});

Deno.test("the whole page is small, and its first view smaller", async () => {
  const get = openPage();
  const whole = [...Deno.readDirSync(ASSETS)]
    .reduce((sum, { name }) => sum + Deno.statSync(new URL(name, ASSETS)).size, 0);
  assert(whole < MOST_BYTES, `${whole} bytes`);
  const files = filesOf(await (await get("/")).text()).filter((name) => !name.includes("pdf"));
  let first = 0;
  for (const path of new Set(files)) {
    const response = await get(path, { "accept-encoding": "br" });
    first += (await response.arrayBuffer()).byteLength;
  }
  assert(first > 1000 && first < MOST_FIRST_BYTES, `${first} bytes`);
});

Deno.test("files are sent as Brotli, gzip or plain, may be kept, and are known by their tag", async () => {
  const get = openPage();
  const [style] = filesOf(await (await get("/")).text()).filter((path) => path.endsWith(".css"));
  const plain = new Uint8Array(await (await get(style!)).arrayBuffer());
  const decoders = { br: brotliDecompressSync, gzip: gunzipSync };
  for (const [name, decode] of Object.entries(decoders)) {
    const response = await get(style!, { "accept-encoding": `deflate, ${name}` });
    assertEquals(response.headers.get("content-encoding"), name);
    assertEquals(response.headers.get("content-type"), "text/css; charset=utf-8");
    assertStringIncludes(response.headers.get("cache-control")!, "immutable");
    const bytes = new Uint8Array(await response.arrayBuffer());
    assertEquals(response.headers.get("content-length"), String(bytes.length));
    assertEquals(new Uint8Array(decode(bytes)), plain);
  }
  const refused = await get(style!, { "accept-encoding": "br;q=0, gzip;q=0.0" });
  assertEquals(refused.headers.get("content-encoding"), null);
  await refused.body?.cancel();
  const etag = (await get("/")).headers.get("etag")!;
  assertEquals((await get("/", { "if-none-match": etag })).status, 304);
});

Deno.test("the server tells whether it has the library for pages, and gives its files", async () => {
  const get = openPage({ keys: ringOf("secret") });
  const { built } = await (await get("/web/library")).json();
  const index = await get("/web/library/index.js");
  assertEquals([built, index.status], await isBuilt() ? [true, 200] : [false, 404]);
  if (built) assertEquals(index.headers.get("content-type"), "text/javascript; charset=utf-8");
  await index.body?.cancel();
  const outside = await get("/web/library/..%2Fquern");
  assertEquals(outside.status, 404);
  await outside.body?.cancel();
});

async function isBuilt(): Promise<boolean> {
  const file = new URL("../../dist/library/index.js.br", import.meta.url);
  return await Deno.stat(file).then(() => true, () => false);
}

Deno.test("no name leads out of the folder of the page", async () => {
  const get = openPage();
  for (
    const name of ["nothing.js", "page.html", "..%2Froute.ts", "%2e%2e/route.ts", "a%00.js", ".js"]
  ) {
    const response = await get(`/web/${name}`);
    assertEquals(response.status, 404, name);
    await response.body?.cancel();
  }
});

Deno.test("the documents run and load nothing but files of this server", async () => {
  const get = openPage();
  for (const path of documents) {
    const response = await get(path);
    const policy = response.headers.get("content-security-policy")!;
    assertStringIncludes(policy, "default-src 'none'");
    // WebAssembly may be compiled, which takes no text that a page could be given.
    assert(!/unsafe|https?:|\*/.test(policy.replace("'wasm-unsafe-eval'", "")), policy);
    const text = await response.text();
    assert(!/<style|style=|\son\w+=|<script(?![^>]*src="\/web\/)|https?:/i.test(text), text);
    for (const file of filesOf(text)) {
      const found = await get(file);
      assertEquals(found.status, 200, file);
      await found.body?.cancel();
    }
  }
});

Deno.test("the page is there without the key, which it asks people for", async () => {
  const get = openPage({ keys: ringOf("secret") });
  for (const path of documents) {
    const response = await get(path);
    assertEquals(response.status, 200);
    for (const file of filesOf(await response.text())) {
      const found = await get(file);
      assertEquals(found.status, 200);
      await found.body?.cancel();
    }
  }
  for (const path of ["/api/tags", "/openapi.json", "/web", "/webs/x.js"]) {
    const response = await get(path);
    assertEquals(response.status, 401, path);
    await response.body?.cancel();
  }
});
