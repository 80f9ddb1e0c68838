// POST /api/create: its records, its statuses, and that what it made answers.

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { until } from "../../../../until.ts";
import { createStoreApp, tinyFile } from "../../../store_app.ts";
import { readLines } from "../../../test_app.ts";

const { app, store, send, ask } = await createStoreApp();
const { digest } = await store.blobs.put(await Deno.readFile(tinyFile("tiny")));

Deno.test("POST /api/create tells each step on a line of its own", async () => {
  const response = await send("POST", "/api/create", {
    name: "mario",
    from: "tiny",
    system: "You are Mario.",
    license: "MIT",
  });
  assertEquals(response.headers.get("content-type"), "application/x-ndjson");
  const lines = await readLines(response);
  const steps = lines.map(({ status }) => (status as string).replace(/ sha256:.*/, ""));
  assertEquals(steps, [
    "using existing layer",
    "creating new layer",
    "creating new layer",
    "writing manifest",
    "success",
  ]);
  assertEquals((await store.find("mario")).defaults.license, ["MIT"]);
});

Deno.test("POST /api/create without a stream gives the last record alone", async () => {
  const made = await ask("/api/create", { model: "x", files: { "x.gguf": digest }, stream: false });
  assertEquals(made, { status: "success" });
});

Deno.test("POST /api/create quantizes by either word, and counts bytes", async () => {
  for (const [word, type] of [["quantize", "q8_0"], ["quantization", "Q4_0"]] as const) {
    const response = await send("POST", "/api/create", { model: word, from: "tiny", [word]: type });
    const lines = await readLines(response);
    const last = lines.filter(({ digest }) => digest === "0").at(-1)!;
    assertEquals(last.status, `quantizing F32 model to ${type.toUpperCase()}`);
    assert((last.total as number) > 100_000 && last.completed === last.total);
    assertEquals((await store.find(word)).info.quantization, type.toUpperCase());
  }
});

const faults: [body: object, status: number, error: string][] = [
  [{ from: "tiny" }, 400, "invalid model name"],
  [{ model: "a b", from: "tiny" }, 400, "invalid model name"],
  [{ model: "x" }, 400, "neither 'from' or 'files' was specified"],
  [{ model: "x", files: {} }, 400, "no files provided to convert"],
  [{ model: "x", files: { "../a": digest } }, 400, "file path must be relative"],
  [{ model: "x", files: { a: "md5:1" } }, 400, "invalid digest format"],
  [{ model: "x", files: { a: 1 } }, 400, "files.a must be of type string"],
  [{ model: "x", from: "tiny", template: "{{ if }}" }, 400, "template error: "],
  [{ model: "x", from: "tiny", quantize: "Q9" }, 400, "unsupported quantization type Q9"],
  [{ model: "x", from: "tiny", parameters: { seed: "a" } }, 400, 'option "seed" must be of type'],
  [{ model: "x", from: "tiny", messages: [{ role: "bot" }] }, 400, "messages[0].role must be one"],
  [{ model: "x", from: "tiny", license: 5 }, 400, "license must be of type string or array"],
  [
    { model: "x", from: "tiny", draft_files: { "../a": digest } },
    400,
    "file path must be relative",
  ],
  [{ model: "x", from: "tiny", adapters: { a: digest } }, 400, '"a" is not a LoRA adapter'],
  [{ model: "x", from: "tiny", remote_host: "ftp://h" }, 400, "bad remote"],
];

Deno.test("POST /api/create refuses with a status before its first record", async (test) => {
  for (const [body, status, error] of faults) {
    await test.step(JSON.stringify(body), async () => {
      const whole = await send("POST", "/api/create", { ...body, stream: false });
      assertEquals(whole.status, status);
      assertStringIncludes((await whole.json()).error, error);
    });
  }
  const streamed = await send("POST", "/api/create", { model: "x" });
  assertEquals(streamed.status, 400);
  assertStringIncludes((await streamed.json()).error, "neither");
  assertEquals((await app.request("/api/create")).status, 405);
});

Deno.test("what goes wrong after the first record is the last line", async () => {
  const { digest } = await store.blobs.put(new TextEncoder().encode("GGUF\x03\0\0\0"));
  const response = await send("POST", "/api/create", { model: "x", files: { "x.gguf": digest } });
  const lines = await readLines(response);
  assertEquals([response.status, lines[0]], [200, { status: "parsing GGUF" }]);
  assertStringIncludes(lines.at(-1)!.error as string, 'Cannot read "x.gguf"');
});

Deno.test("a client that goes away ends the work, and the store is as it was", async () => {
  const before = (await store.list()).map(({ name }) => name);
  const response = await send("POST", "/api/create", {
    model: "y",
    from: "tiny",
    quantize: "Q4_K_M",
  });
  const reader = response.body!.getReader();
  await reader.read();
  await reader.cancel();
  assertEquals((await store.list()).map(({ name }) => name), before);
  // The thread that quantizes lets go of the store when it has come to the end of its piece.
  await until(async () => (await store.prune({ graceMilliseconds: 0 })).skipped === undefined);
});

Deno.test("an unknown model to be made from is pulled, and its error told", async () => {
  const asked: string[] = [];
  const test = await createStoreApp({
    registry: {
      async *pull(_store, name) {
        asked.push(name);
        yield { status: "pulling manifest" };
        throw new Error("pull model manifest: file does not exist");
      },
      async *push() {},
    },
  });
  const body = { model: "new", from: "far/away", system: "Hi" };
  const lines = await readLines(await test.send("POST", "/api/create", body));
  assertEquals([asked, lines], [["far/away"], [
    { status: "pulling manifest" },
    { error: "pull model manifest: file does not exist" },
  ]]);
});

Deno.test("a model on another server is listed with its address", async () => {
  const body = { model: "big", from: "gpt-oss:120b", remote_host: "gpu.lan", stream: false };
  assertEquals(await ask("/api/create", body), { status: "success" });
  const { models } = await (await app.request("/api/tags")).json();
  const { name, remote_model: model, remote_host: host } = models[0];
  assertEquals([name, model, host], ["big:latest", "gpt-oss:120b", "http://gpu.lan:11434"]);
});
