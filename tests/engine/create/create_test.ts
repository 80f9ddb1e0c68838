// Making models: what they carry, from what they are made, and what is refused.

import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { createModel, type CreateRequest } from "../../../engine/create/mod.ts";
import { ModelNotFoundError, RequestError } from "../../../engine/errors.ts";
import { inspectModel } from "../../../engine/load/inspect.ts";
import { MEDIA, ModelName, type ModelStore } from "../../../engine/store/mod.ts";
import { writeTinyLlama } from "../../tiny_model.ts";
import { createStore, make, upload } from "./world.ts";

const tiny = await Deno.makeTempFile({ suffix: ".gguf" });
await writeTinyLlama(tiny);
globalThis.addEventListener("unload", () => Deno.removeSync(tiny));

/** A store with the model `tiny`. */
async function storeWithTiny(): Promise<ModelStore> {
  const { store } = await createStore();
  await make(store, { model: "tiny", files: { "tiny.gguf": await upload(store, tiny) } });
  return store;
}

async function configText(store: ModelStore, name: string): Promise<string> {
  const manifest = await store.readManifest(ModelName.parse(name));
  return new TextDecoder().decode(await store.blobs.read(manifest!.config.digest));
}

Deno.test("createModel() makes a model of a GGUF file, as Ollama describes it", async () => {
  const { store } = await createStore();
  const digest = await upload(store, tiny);
  const statuses = await make(store, { model: "Tiny:v1", files: { "a/tiny.gguf": digest } });
  assertEquals(statuses, [
    "parsing GGUF",
    `using existing layer ${digest}`,
    "writing manifest",
    "success",
  ]);
  const { name, source, info, manifest } = await store.find("tiny:v1");
  assertEquals(name, "Tiny:v1");
  assertEquals(source, { kind: "files", path: store.blobs.pathOf(digest), adapters: [] });
  assertEquals(manifest!.layers.map(({ mediaType }) => mediaType), [MEDIA.model]);
  assertEquals(info, await inspectModel(tiny));
  assertEquals(
    await configText(store, "tiny:v1"),
    '{"model_format":"gguf","model_family":"llama","model_families":["llama"],' +
      '"model_type":"125K","file_type":"F32","architecture":"amd64","os":"linux",' +
      `"rootfs":{"type":"layers","diff_ids":["${digest}"]}}\n`,
  );
});

Deno.test("createModel() puts texts, parameters and turns over those of another model", async () => {
  const store = await storeWithTiny();
  const first = await make(store, {
    model: "mario",
    from: "tiny",
    template: "{{ .Prompt }}<end>",
    system: "You are Mario.",
    parameters: { temperature: 0.5, top_k: 3, stop: "<end>" },
    messages: [{ role: "user", content: "Hi" }, { role: "assistant", content: "It's-a me!" }],
    license: ["MIT", "MIT", "BSD"],
    requires: "v0.14.0",
    renderer: "r",
    parser: "p",
  });
  assertEquals(first.filter((status) => status.startsWith("creating new layer")).length, 6);
  const { defaults, config } = await store.find("mario");
  assertEquals(defaults, {
    template: "{{ .Prompt }}<end>",
    templateSource: "modelfile",
    system: "You are Mario.",
    parameters: { stop: ["<end>"], temperature: 0.5, top_k: 3 },
    messages: [{ role: "user", content: "Hi" }, { role: "assistant", content: "It's-a me!" }],
    license: ["MIT", "BSD"],
    requires: "0.14.0",
    renderer: "r",
    parser: "p",
  });
  assertEquals(config!.model_family, "llama");

  const second = await make(store, {
    model: "luigi",
    from: "mario",
    parameters: { temperature: 1, top_k: null, seed: 7 },
    license: ["Apache"],
    system: "You are Luigi.",
  });
  assert(second.every((status) => !status.includes("parsing")));
  const derived = (await store.find("luigi")).defaults;
  assertEquals(derived, {
    ...defaults,
    system: "You are Luigi.",
    parameters: { seed: 7, stop: ["<end>"], temperature: 1 },
    license: ["MIT", "BSD", "Apache"],
  });
});

Deno.test("createModel() puts a template in the place of an inherited renderer, unless both are given", async () => {
  const store = await storeWithTiny();
  const renderers = async (...requests: Partial<CreateRequest>[]) => {
    const names: (string | undefined)[] = [];
    let from = "tiny";
    for (const [index, request] of requests.entries()) {
      await make(store, { model: `m${index}`, from, ...request });
      from = `m${index}`;
      names.push((await store.find(from)).defaults.renderer);
    }
    return names;
  };
  const template = "{{ .Prompt }}";
  const given = [{ renderer: "r", template }, { system: "S" }, { template }, { renderer: "q" }];
  assertEquals(await renderers(...given), ["r", "r", undefined, "q"]);
});

Deno.test("createModel() writes parameters and turns in the bytes that Go writes", async () => {
  const store = await storeWithTiny();
  await make(store, {
    model: "x",
    from: "tiny",
    parameters: { stop: ["<a>&"], num_ctx: 64 },
    messages: [{ content: "Hi", role: "user" }],
  });
  const manifest = await store.readManifest(ModelName.parse("x"));
  const read = async (mediaType: string) => {
    const layer = manifest!.layers.find((layer) => layer.mediaType === mediaType)!;
    return new TextDecoder().decode(await store.blobs.read(layer.digest));
  };
  assertEquals(await read(MEDIA.params), '{"num_ctx":64,"stop":["\\u003ca\\u003e\\u0026"]}\n');
  assertEquals(await read(MEDIA.messages), '[{"role":"user","content":"Hi"}]\n');
});

Deno.test("createModel() takes a bare file of the store's folder, and leaves it where it is", async () => {
  const { store, folder } = await createStore();
  await Deno.copyFile(tiny, `${folder}/bare.gguf`);
  await make(store, { model: "copy", from: "bare", system: "Hi" });
  const { source } = await store.find("copy");
  assert(source.kind === "files" && source.path.startsWith(store.blobs.folder));
  assertEquals(await Deno.readFile(source.path), await Deno.readFile(`${folder}/bare.gguf`));
});

Deno.test("createModel() quantizes, tells how far it is, and describes the result", async () => {
  const store = await storeWithTiny();
  const request = { model: "small", from: "tiny", quantize: "q8_0", system: "Hi" };
  const statuses = await make(store, request);
  assertEquals(statuses[0], "quantizing F32 model to Q8_0");
  const small = await store.find("small");
  assertEquals([small.info.quantization, small.config!.file_type], ["Q8_0", "Q8_0"]);
  assert(small.info.fileSize < (await store.find("tiny")).info.fileSize / 2);
  assertEquals(small.defaults.system, "Hi");
  // A second time the blobs are there already.
  const again = await make(store, { ...request, model: "again" });
  assertEquals(again.filter((status) => status.startsWith("creating")), []);
  await assertRejects(
    () => make(store, { model: "y", from: "small", quantize: "Q4_K_M" }),
    RequestError,
    "quantization is only supported for F32, F16, BF16 models, not Q8_0",
  );
  await make(store, { model: "same", from: "small", quantize: "Q8_0" });
  const left = (await Array.fromAsync(Deno.readDir(store.blobs.folder))).map(({ name }) => name);
  assert(left.every((name) => /^sha256-[0-9a-f]{64}$/.test(name)), left.join());
});

Deno.test("createModel() keeps nothing of a model on another server but its address", async () => {
  const { store } = await createStore();
  const cases = [
    ["gpu.lan", "http://gpu.lan:11434"],
    ["gpu.lan:8000/v1/", "http://gpu.lan:8000/v1"],
    ["https://api.test/v1", "https://api.test/v1"],
    ["/x", "http://localhost:11434/x"],
  ];
  for (const [remoteHost, host] of cases) {
    await make(store, {
      model: "big",
      from: "gpt-oss:120b",
      remoteHost: remoteHost!,
      info: { context_length: 131072, capabilities: ["completion", "thinking"] },
    });
    const { source, info } = await store.find("big");
    assertEquals(source, { kind: "remote", host: host!, model: "gpt-oss:120b" });
    assertEquals([info.trainedContextLength, info.thinks, info.callsTools], [131072, true, false]);
  }
  await make(store, { model: "bigger", from: "big", system: "Hi", files: {}, adapters: {} });
  const { source, defaults } = await store.find("bigger");
  assertEquals([source.kind, defaults.system], ["remote", "Hi"]);
});

Deno.test("createModel() pulls the model that it is made from where it is not there", async () => {
  const { store } = await createStore();
  const digest = await upload(store, tiny);
  const asked: string[] = [];
  const statuses = await make(store, { model: "new", from: "tiny" }, async function* (name) {
    asked.push(name);
    yield { status: "pulling manifest" };
    await make(store, { model: "tiny", files: { "tiny.gguf": digest } });
    yield { status: "success" };
  });
  assertEquals([asked, statuses.slice(0, 2)], [["tiny"], [
    "pulling manifest",
    `using existing layer ${digest}`,
  ]]);
  assertEquals(statuses.filter((status) => status === "success").length, 1);
  await assertRejects(() => make(store, { model: "x", from: "nowhere" }), ModelNotFoundError);
});

Deno.test("createModel() ends at once when it is aborted, and leaves the store as it was", async () => {
  const store = await storeWithTiny();
  const before = await configText(store, "tiny");
  const abort = new AbortController();
  const request: CreateRequest = { model: "tiny", from: "tiny", quantize: "Q4_K_M" };
  const records = createModel(store, request, { signal: abort.signal });
  await records.next();
  abort.abort(new Error("gone"));
  await assertRejects(() => Array.fromAsync(records), Error, "gone");
  assertEquals(await configText(store, "tiny"), before);
  const left = await Array.fromAsync(Deno.readDir(store.blobs.folder));
  assertEquals(left.filter(({ name }) => name.endsWith("-partial")), []);
});

const sha = `sha256:${"0".repeat(64)}`;
const faults: [request: Partial<CreateRequest>, sentence: string | RegExp][] = [
  [{}, "neither 'from' or 'files' was specified"],
  [{ files: {} }, "no files provided to convert"],
  [{ files: { "/a.gguf": sha } }, "file path must be relative: /a.gguf"],
  [{ files: { "../a.gguf": sha } }, "file path must be relative"],
  [{ files: { "C:a.gguf": sha } }, "file path must be relative"],
  [{ files: { "a.gguf": "sha256:1" } }, "invalid digest format"],
  [{ files: { "a.gguf": sha } }, 'blob not found for "a.gguf"'],
  [{ files: { "a.gguf": "TEXT" } }, "supplied file was not in GGUF format"],
  [{ files: { "a.txt": "TEXT" } }, "unknown type: a.txt"],
  [{ files: { "a.gguf": "BROKEN" } }, /^Cannot read "a\.gguf": /],
  [{ files: { "a.gguf": "TINY", "b.gguf": "TINY" } }, '"b.gguf" is a second model'],
  [{ from: "tiny", files: { "a.gguf": "TINY" } }, "both 'from' and 'files' hold a model"],
  [{ from: "tiny", adapters: { "a.gguf": "TINY" } }, '"a.gguf" is not a LoRA adapter'],
  [{ from: "tiny", template: "{{ .Prompt " }, /^template error: /],
  [{ from: "tiny", parameters: { seed: "x" } }, 'option "seed" must be of type integer'],
  [{ from: "tiny", requires: "soon" }, "requires must be a valid semver"],
  [{ from: "tiny", quantize: "Q3_K" }, /^unsupported quantization type Q3_K/],
  [{ from: "tiny", info: { context_length: "8" } }, 'info field "context_length" must be'],
  [{ from: "tiny", info: { capabilities: "x" } }, 'info field "capabilities" must be an array'],
  [{ from: "big", remoteHost: "h", quantize: "Q8_0" }, '"big" runs on another server'],
  [{ from: "tiny", remoteHost: "http://" }, "bad remote"],
  [{ from: "tiny", remoteHost: "ftp://x" }, "bad remote"],
];

Deno.test("createModel() refuses what no model can be made of, and says why", async (test) => {
  const store = await storeWithTiny();
  const blobs: Record<string, string> = {
    TINY: await upload(store, tiny),
    TEXT: (await store.blobs.put(new TextEncoder().encode("hello"))).digest,
    BROKEN: (await store.blobs.put(new TextEncoder().encode("GGUF\x03\0\0\0\x09"))).digest,
  };
  const named = (files: CreateRequest["files"]) =>
    Object.fromEntries(Object.entries(files!).map(([name, key]) => [name, blobs[key] ?? key]));
  for (const [request, sentence] of faults) {
    await test.step(JSON.stringify(request), async () => {
      const { files, adapters, ...rest } = request;
      const full = {
        model: "x",
        ...rest,
        ...(files && { files: named(files) }),
        ...(adapters && { adapters: named(adapters) }),
      };
      const error = await assertRejects(() => make(store, full), RequestError);
      if (typeof sentence === "string") assert(error.message.includes(sentence), error.message);
      else assertMatch(error.message, sentence);
    });
  }
  assertEquals((await store.list()).map(({ name }) => name), ["tiny:latest"]);
});
