// The npm package elsewhere: packed, installed into a fresh folder, and run in Node, in Bun and in a
// Chromium, where quern:tiny has to answer word for word as it does in Deno: `deno task test:elsewhere`.
// What is not on this machine is said, and not tried.

import { assert, assertEquals } from "@std/assert";
import { buildPackage } from "../../library/build.ts";
import * as library from "../../mod.ts";
import { type Answers, loadTiny, rehearse } from "../host/rehearsal.ts";
import { PROJECT_ROOT } from "../source_files.ts";
import { findChromium } from "../web/browser.ts";
import { openPage, type PageOptions } from "./package_page.ts";

/** The first Node that has what recent_javascript.ts does not provide, such as Array.fromAsync(). */
const OLDEST_NODE = 22;

const MODEL = new URL("engine/box/quern-tiny.gguf", PROJECT_ROOT);
const TIMEOUT = 120_000;

/** Chromium's own driver, which computes on the CPU. */
const SOFTWARE_GPU = ["--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader"];

const [node, bun, chromium] = [
  find("node", "QUERN_NODE"),
  find("bun", "QUERN_BUN"),
  findChromium(),
];
const folder = await Deno.makeTempDir();
globalThis.addEventListener("unload", () => Deno.removeSync(folder, { recursive: true }));
const expected: Answers = await rehearse(await loadTiny(library, await Deno.readFile(MODEL)));
const installed = await install();

/** Packs the package and installs it, as whoever uses it does. Returns its folder. */
async function install(): Promise<string> {
  await buildPackage(`${folder}/package`, { withTypes: false });
  const packed = await output("npm", ["pack", "--silent", "--pack-destination", folder], "package");
  await Deno.mkdir(`${folder}/fresh`);
  await Deno.writeTextFile(`${folder}/fresh/package.json`, '{ "private": true }');
  const quietly = ["--silent", "--no-audit", "--no-fund", "--offline"];
  await output("npm", ["install", ...quietly, `../${packed.trim()}`], "fresh");
  return `${folder}/fresh/node_modules/@quern/quern`;
}

/** What a program writes. Errors: Error if it fails or writes of faults. */
async function output(command: string, args: string[], at: string): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(command, {
    args,
    cwd: `${folder}/${at}`,
    signal: AbortSignal.timeout(TIMEOUT),
  }).output();
  const faults = new TextDecoder().decode(stderr);
  if (!success || faults !== "") throw new Error(`${command} ${args.join(" ")} fails: ${faults}`);
  return new TextDecoder().decode(stdout);
}

/** Where a program is that is young enough; undefined where none is found. A variable names another. */
function find(name: string, variable: string): string | undefined {
  const named = Deno.env.get(variable)?.trim();
  return [...named ? [named] : [], name].find((path) => {
    try {
      const { stdout } = new Deno.Command(path, { args: ["--version"] }).outputSync();
      const [, major] = /^v?(\d+)/.exec(new TextDecoder().decode(stdout)) ?? [];
      return name !== "node" || Number(major) >= OLDEST_NODE;
    } catch {
      return false;
    }
  });
}

/** Texts have to be equal, numbers nearly so: not every engine multiplies and adds in one rounding. */
function assertAnswers(answers: Answers): void {
  const { chat, document, vector, captured } = expected;
  assertEquals([answers.chat, answers.document], [chat, document]);
  assertEquals(answers.captured.shape, captured.shape);
  const [numbers, wanted] = [answers, expected].map((of) => [...of.vector, ...of.captured.values]);
  const scale = Math.max(...captured.values.map(Math.abs));
  for (const [i, value] of numbers!.entries()) {
    const most = i < vector.length ? 1e-3 : scale * 1e-3;
    assert(Math.abs(value - wanted![i]!) <= most, `${value} for ${wanted![i]}`);
  }
}

for (const [name, path] of [["Node", node], ["Bun", bun]] as const) {
  Deno.test({
    name: path ? `quern:tiny answers in ${name}` : `quern:tiny in ${name}: none is found`,
    ignore: !path,
    async fn(test) {
      const program = `${folder}/fresh/program.mjs`;
      await Deno.writeTextFile(
        program,
        `import { fileURLToPath } from "node:url";
        import * as library from "@quern/quern";
        const rehearse = ${rehearse};
        const file = fileURLToPath(import.meta.resolve("@quern/quern/quern-tiny.gguf"));
        const [open, threads] = process.argv.slice(2);
        const device = { kind: "cpu", threads: Number(threads) };
        const model = await library[open](file, { contextLength: 512, maxSequences: 1, device });
        console.log(JSON.stringify([model.device, await rehearse(model)]));`,
      );
      for (const open of ["loadModel", "openModelInWorker"]) {
        for (const threads of [1, 2]) {
          await test.step(`${open}, ${threads} threads`, async () => {
            const said = await output(path!, [program, open, `${threads}`], "fresh");
            const [device, answers] = JSON.parse(said);
            assert(device.startsWith(`CPU, ${threads} thread`), device);
            assertAnswers(answers);
          });
        }
      }
    },
  });
}

/** What quern:tiny answers in a page, and on what. Undefined if the device is not there. */
async function inPage(
  page: PageOptions,
  options: library.LoadOptions,
): Promise<[device: string, answers: Answers] | undefined> {
  await using opened = await openPage(chromium!, installed, page);
  return await opened.run(
    `async (options) => {
      if (options.device?.kind === "webgpu" && !await navigator.gpu?.requestAdapter()) return;
      const { openModelInWorker } = await import("/quern/index.js");
      const rehearse = ${rehearse};
      const model = await openModelInWorker("tiny.gguf", {
        sources: { "tiny.gguf": "/quern/quern-tiny.gguf" },
        contextLength: 512,
        maxSequences: 1,
        ...options,
      });
      return [model.device, await rehearse(model)];
    }`,
    options,
  );
}

Deno.test({
  name: chromium ? "quern:tiny answers in a browser" : "quern:tiny in a browser: no Chromium found",
  ignore: !chromium,
  sanitizeOps: false,
  sanitizeResources: false,
  async fn(test) {
    await test.step("on one thread, in a page that is not isolated", async () => {
      const [device, answers] = (await inPage({ isIsolated: false }, {}))!;
      assert(device.startsWith("CPU, 1 thread (this page is not cross-origin isolated)"), device);
      assertAnswers(answers);
    });
    await test.step("on several threads", async () => {
      const options = { device: { kind: "cpu", threads: 2 } } as const;
      const [device, answers] = (await inPage({ isIsolated: true }, options))!;
      assert(device.startsWith("CPU, 2 threads"), device);
      assertAnswers(answers);
    });
    const options = { device: { kind: "webgpu" } } as const;
    const onGpu = await inPage({ isIsolated: true, graphics: SOFTWARE_GPU }, options);
    await test.step({
      name: onGpu ? "on WebGPU" : "on WebGPU: this browser has no adapter",
      ignore: !onGpu,
      fn() {
        const [, answers] = onGpu!;
        assertEquals([answers.chat, answers.document], [expected.chat, expected.document]);
        assertEquals(answers.captured.shape, expected.captured.shape);
      },
    });
  },
});

Deno.test({
  name: chromium ? "a browser keeps what it fetches" : "what a browser keeps: no Chromium found",
  ignore: !chromium,
  sanitizeOps: false,
  sanitizeResources: false,
  async fn(test) {
    await using page = await openPage(chromium!, installed, { isIsolated: true });
    const bytes = await Deno.readFile(MODEL);
    const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
    const load = (source: unknown) =>
      page.run<[answer: string, fetched: number]>(
        `async (source) => {
          const { openModelInWorker } = await import("/quern/index.js");
          let fetched = 0;
          const model = await openModelInWorker("tiny.gguf", {
            sources: { "tiny.gguf": source },
            contextLength: 256,
            onProgress: ({ fetching, loaded }) => fetching && (fetched = loaded),
          });
          let text = "";
          const request = { prompt: "Once upon a time", temperature: 0, maxTokens: 4 };
          for await (const event of model.generate(request)) text += event.text ?? "";
          await model.close();
          return [text, fetched];
        }`,
        source,
      );
    const fails = (source: unknown) => load(source).then(() => "loaded", String);
    let answer = "";
    await test.step("it is fetched once", async () => {
      const [text, fetched] = await load("/quern/quern-tiny.gguf");
      assertEquals(fetched, bytes.length);
      assertEquals(await load("/quern/quern-tiny.gguf"), [text, 0]);
      assertEquals(await load({ url: "/elsewhere.gguf", sha256: digest }), [text, 0]);
      answer = text;
    });
    await test.step("a fetch that breaks off goes on where it ended", async () => {
      page.cutAfter(2_000_000);
      const asked = page.asked.length;
      assertEquals(await load("/cut.gguf"), [answer, bytes.length]);
      const ranges = page.asked.slice(asked).filter(([path]) => path === "/cut.gguf");
      assertEquals(ranges.map(([, range]) => range), [null, "bytes=2000000-"]);
    });
    await test.step("a file with another SHA-256 is refused, and not kept", async () => {
      const other = "0".repeat(64);
      const said = await fails({ url: "/cut.gguf", sha256: other });
      assert(said.includes(`its SHA-256 is ${digest}, not ${other}`), said);
    });
    await test.step("what is not there is an error that names the address", async () => {
      assert((await fails("/none.gguf")).includes("/none.gguf: the server answers 404"));
    });
    await test.step("a picked file is read where it lies", async () => {
      const text = await page.run(
        `async () => {
          const { openModelInWorker } = await import("/quern/index.js");
          const file = new File([await (await fetch("/quern/quern-tiny.gguf")).blob()], "mine.gguf");
          const model = await openModelInWorker("mine.gguf", { sources: { "mine.gguf": file } });
          let text = "";
          const request = { prompt: "Once upon a time", temperature: 0, maxTokens: 4 };
          for await (const event of model.generate(request)) text += event.text ?? "";
          await model.close();
          return text;
        }`,
        undefined,
      );
      assertEquals(text, answer);
    });
  },
});
