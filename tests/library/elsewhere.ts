// The library's bundle in Node and in a browser: `deno task test:elsewhere`. quern:tiny is loaded there
// from its bytes, and has to answer word for word as it does in Deno. Where there is no Node from 22 on or
// no Chromium, that is said.

import { assertEquals } from "@std/assert";
import { buildLibrary } from "../../library/build.ts";
import * as library from "../../mod.ts";
import { type Answers, rehearse } from "../host/rehearsal.ts";
import { PROJECT_ROOT } from "../source_files.ts";
import { findChromium, launch } from "../web/browser.ts";

/** The first Node that has what recent_javascript.ts does not provide, such as Array.fromAsync(). */
const OLDEST_NODE = 22;

const MODEL = new URL("engine/box/quern-tiny.gguf", PROJECT_ROOT);
const TIMEOUT = 120_000;

/** Chromium's own driver, which computes on the CPU. */
const SOFTWARE_GPU = ["--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader"];

const [node, chromium] = [findNode(), findChromium()];
const folder = await Deno.makeTempDir();
globalThis.addEventListener("unload", () => Deno.removeSync(folder, { recursive: true }));
const bundle = `${folder}/quern.js`;
let expected: Answers | undefined;
if (node ?? chromium) {
  await buildLibrary(bundle);
  expected = await rehearse(library, await Deno.readFile(MODEL));
}

/** Where a Node is that is young enough; undefined where none is found. QUERN_NODE names another. */
function findNode(): string | undefined {
  const named = Deno.env.get("QUERN_NODE")?.trim();
  return [...named ? [named] : [], "node"].find((path) => {
    try {
      const { stdout } = new Deno.Command(path, { args: ["--version"] }).outputSync();
      const [, major] = /^v(\d+)/.exec(new TextDecoder().decode(stdout)) ?? [];
      return Number(major) >= OLDEST_NODE;
    } catch {
      return false;
    }
  });
}

Deno.test({
  name: node ? "quern:tiny answers in Node" : `quern:tiny in Node: no Node from ${OLDEST_NODE} on`,
  ignore: !node,
  async fn() {
    const program = `${folder}/program.mjs`;
    await Deno.writeTextFile(
      program,
      `import { readFile } from "node:fs/promises";
      import * as library from "./quern.js";
      const rehearse = ${rehearse};
      const bytes = await readFile(process.argv[2]);
      console.log(JSON.stringify(await rehearse(library, bytes)));`,
    );
    const { stdout, stderr } = await new Deno.Command(node!, {
      args: [program, MODEL.pathname],
      signal: AbortSignal.timeout(TIMEOUT),
    }).output();
    const [said, faults] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
    assertEquals(faults, "");
    assertEquals(JSON.parse(said!), expected);
  },
});

/** A page and its files. Shared memory is only for pages that are isolated from others. */
function serve(): Deno.HttpServer<Deno.NetAddr> {
  const files: Record<string, [type: string, content: () => Promise<Uint8Array<ArrayBuffer>>]> = {
    "/": ["text/html", () => Promise.resolve(new TextEncoder().encode("<!doctype html>"))],
    "/quern.js": ["text/javascript", () => Deno.readFile(bundle)],
    "/tiny.gguf": ["application/octet-stream", () => Deno.readFile(MODEL)],
  };
  const options = { hostname: "127.0.0.1", port: 0, onListen() {} };
  return Deno.serve(options, async (request) => {
    const [type, content] = files[new URL(request.url).pathname] ?? [];
    if (!content) return new Response(null, { status: 404 });
    return new Response(await content(), {
      headers: {
        "content-type": type!,
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-embedder-policy": "require-corp",
      },
    });
  });
}

/** What quern:tiny answers in a page, on a device. Undefined if the device is not there. */
async function answersInPage(
  device: library.DeviceOptions,
  graphics?: readonly string[],
): Promise<Answers | undefined> {
  await using server = serve();
  const browser = await launch(chromium!, graphics);
  try {
    const page = await browser.newPage();
    page.setDefaultTimeout(TIMEOUT);
    await page.goto(`http://127.0.0.1:${server.addr.port}/`);
    const answers = await page.evaluate(`(async () => {
      const device = ${JSON.stringify(device)};
      if (device.kind === "webgpu" && !await navigator.gpu?.requestAdapter()) return;
      const rehearse = ${rehearse};
      const bytes = new Uint8Array(await (await fetch("/tiny.gguf")).arrayBuffer());
      return await rehearse(await import("/quern.js"), bytes, device);
    })()`);
    return answers as Answers | undefined;
  } finally {
    await browser.close();
  }
}

Deno.test({
  name: chromium ? "quern:tiny answers in a browser" : "quern:tiny in a browser: no Chromium found",
  ignore: !chromium,
  sanitizeOps: false,
  sanitizeResources: false,
  async fn(test) {
    await test.step("on the CPU", async () => {
      assertEquals(await answersInPage({ kind: "cpu", threads: 1 }), expected);
    });
    const onGpu = await answersInPage({ kind: "webgpu" }, SOFTWARE_GPU);
    await test.step({
      name: onGpu ? "on WebGPU" : "on WebGPU: this browser has no adapter",
      ignore: !onGpu,
      fn() {
        const { chat, document } = expected!;
        assertEquals([onGpu!.chat, onGpu!.document], [chat, document]);
      },
    });
  },
});
