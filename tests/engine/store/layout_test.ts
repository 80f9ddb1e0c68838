// Stores in Ollama's layout that were written by hand: what list(), find() and digest() make of them.

import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { ModelNotFoundError } from "../../../engine/errors.ts";
import { MEDIA, ModelName, StoreError } from "../../../engine/store/mod.ts";
import { sha256, withFiles, writeFile } from "./world.ts";

const CONFIG = '{"model_format":"gguf","model_family":"gemma3","model_families":["gemma3"],' +
  '"model_type":"999.89M","file_type":"Q4_K_M","renderer":"r1","parser":"p1","requires":"0.14.0",' +
  '"template_source":"modelfile","architecture":"amd64","os":"linux",' +
  '"rootfs":{"type":"layers","diff_ids":[]}}';

type Blob = [mediaType: string, text: string];

/** Files of a store in which these blobs make a model of that path, with the manifest's text. */
async function modelFiles(path: string, config: string, blobs: Blob[]) {
  const files: Record<string, string> = {};
  const layers: unknown[] = [];
  for (const [mediaType, text] of [[MEDIA.config, config] as Blob, ...blobs]) {
    const hex = await sha256(text);
    files[`blobs/sha256-${hex}`] = text;
    layers.push({ mediaType, digest: `sha256:${hex}`, size: text.length });
  }
  const [first, ...others] = layers;
  const manifest = JSON.stringify({
    schemaVersion: 2,
    mediaType: MEDIA.manifest,
    config: first,
    layers: others,
  });
  files[`manifests/${path}`] = manifest;
  return { files, manifest };
}

const WHOLE: Blob[] = [
  [MEDIA.model, "weights"],
  [MEDIA.projector, "eyes"],
  [MEDIA.adapter, "one"],
  [MEDIA.adapter, "two"],
  [MEDIA.template, "{{ .Prompt }}"],
  [MEDIA.system, "Be brief."],
  [MEDIA.license, "MIT"],
  [MEDIA.license, "Apache"],
  [MEDIA.params, '{"temperature":0.5,"stop":["a","b"]}'],
  [MEDIA.messages, '[{"role":"user","content":"Hi"}]'],
];

Deno.test("find() reads a model in the layout of Ollama", async () => {
  const path = "registry.ollama.ai/library/gemma3/1b";
  const { files, manifest } = await modelFiles(path, CONFIG, WHOLE);
  await withFiles(files, async ({ folder, inspected, createStore }) => {
    await Deno.utime(`${folder}/manifests/${path}`, 1000, 1000);
    const store = createStore();
    const entry = await store.find("Gemma3:1B");
    const blob = async (text: string) => `${folder}/blobs/sha256-${await sha256(text)}`;
    assertEquals(entry.name, "Gemma3:1B".toLowerCase());
    assertEquals(entry.source, {
      kind: "files",
      path: await blob("weights"),
      projector: await blob("eyes"),
      adapters: [await blob("one"), await blob("two")],
    });
    assertEquals(entry.defaults, {
      template: "{{ .Prompt }}",
      templateSource: "modelfile",
      system: "Be brief.",
      parameters: { temperature: 0.5, stop: ["a", "b"] },
      messages: [{ role: "user", content: "Hi" }],
      license: ["MIT", "Apache"],
      renderer: "r1",
      parser: "p1",
      requires: "0.14.0",
    });
    const texts = [CONFIG, ...WHOLE.map(([, text]) => text)];
    assertEquals(entry.size, texts.join("").length);
    assertEquals([entry.modified.getTime(), entry.info.fileSize], [1_000_000, 7]);
    assertEquals(JSON.stringify(entry.config), CONFIG);
    assertEquals(JSON.stringify(entry.manifest), manifest);
    assertEquals(await store.digest(entry), await sha256(manifest));
    assertEquals(inspected, [(await blob("weights")).slice(folder.length + 1)]);
    assertEquals(JSON.stringify(await store.readManifest(ModelName.parse("gemma3:1b"))), manifest);
    await assertRejects(() => store.find("gemma3"), ModelNotFoundError);
  });
});

Deno.test("list() reads all names, the latest first, each header once", async () => {
  const paths = [
    "registry.ollama.ai/library/a/latest",
    "registry.ollama.ai/user/b/Q8",
    "hf.co/user/c.d/Q4_K_M",
    "localhost:5000/library/e/latest",
  ];
  const all = await Promise.all(paths.map((path) => modelFiles(path, CONFIG, WHOLE.slice(0, 1))));
  const files = Object.assign({}, ...all.map(({ files }) => files));
  await withFiles({ ...files, "a.gguf": "shadowed", "f.gguf": "F" }, async (world) => {
    for (const [index, path] of paths.entries()) {
      await Deno.utime(`${world.folder}/manifests/${path}`, 1000 - index, 1000 - index);
    }
    const store = world.createStore();
    const expected = ["f:latest", "a:latest", "user/b:Q8", "hf.co/user/c.d:Q4_K_M"];
    for (let i = 0; i < 2; i++) {
      const names = (await store.list()).map(({ name }) => name);
      assertEquals(names, [...expected, "localhost:5000/library/e:latest"]);
    }
    assertEquals(world.inspected.length, 2);
    assertEquals((await store.find("localhost:5000/e")).name, "localhost:5000/library/e:latest");
  });
});

Deno.test("a model that lacks a blob is left out and told once; find() names the blob and the fix", async () => {
  const { files } = await modelFiles("registry.ollama.ai/library/a/latest", CONFIG, WHOLE);
  const lost = `sha256-${await sha256("two")}`;
  delete files[`blobs/${lost}`];
  await withFiles(files, async ({ folder, broken, createStore }) => {
    const store = createStore();
    for (let i = 0; i < 2; i++) assertEquals(await store.list(), []);
    assertEquals(broken, ["manifests/registry.ollama.ai/library/a/latest"]);
    const { message } = await assertRejects(() => store.find("a"), StoreError);
    assertStringIncludes(message, lost.replace("-", ":"));
    assertStringIncludes(message, "`quern pull a:latest`");
    await writeFile(`${folder}/blobs/${lost}`, "two");
    assertEquals((await store.list()).map(({ name }) => name), ["a:latest"]);
    await Deno.remove(`${folder}/blobs/${lost}`);
    assertEquals([await store.list(), broken.length], [[], 2]);
  });
});

Deno.test("list() survives whatever lies among the manifests", async () => {
  const { files } = await modelFiles("registry.ollama.ai/library/a/latest", CONFIG, WHOLE);
  const base = "manifests/registry.ollama.ai/library";
  const odd = await modelFiles("registry.ollama.ai/library/odd/config", "[", WHOLE.slice(0, 1));
  const none = await modelFiles("registry.ollama.ai/library/odd/weights", CONFIG, []);
  const tensors = await modelFiles("registry.ollama.ai/library/odd/tensors", CONFIG, [
    [MEDIA.tensor, "t"],
  ]);
  const foreign = {
    ...odd.files,
    ...none.files,
    ...tensors.files,
    [`${base}/a/.DS_Store`]: "x",
    [`${base}/a/broken`]: "{",
    [`${base}/a/empty`]: "",
    [`${base}/a/list`]: "[1]",
    [`${base}/stray`]: "x",
    [`${base}/deep/er/than/it/should`]: "x",
    "manifests/.quern-1-temporary": "x",
  };
  await withFiles({ ...files, ...foreign }, async ({ folder, broken, createStore }) => {
    await Deno.mkdir(`${folder}/${base}/a/folder`);
    await Deno.symlink("nowhere", `${folder}/${base}/a/dangling`);
    const store = createStore();
    assertEquals((await store.list()).map(({ name }) => name), ["a:latest"]);
    const tags = broken.map((path) => path.slice(base.length + 1)).sort();
    const expected = ["a/broken", "a/empty", "a/list"];
    assertEquals(tags, [...expected, "odd/config", "odd/tensors", "odd/weights"]);
    await assertRejects(() => store.find("odd:tensors"), StoreError, "safetensors");
    await assertRejects(() => store.find("odd:weights"), StoreError, "names no weights");
    await assertRejects(() => store.find("a:broken"), StoreError, "Cannot read a manifest");
    await assertRejects(() => store.find("a:dangling"), ModelNotFoundError);
  });
});

Deno.test("a model that runs elsewhere needs no weights", async () => {
  const config = {
    model_format: "",
    model_family: "gptoss",
    model_families: null,
    model_type: "116.8B",
    file_type: "MXFP4",
    remote_host: "https://cloud.test",
    remote_model: "gpt-oss:120b",
    capabilities: ["completion", "thinking"],
    context_length: 131072,
    embedding_length: 2880,
  };
  const plain = { remote_host: "http://box:8000", remote_model: "m" };
  const embedder = { ...plain, capabilities: ["embedding"] };
  const files = {};
  for (const [name, value] of Object.entries({ config, plain, embedder })) {
    const path = `registry.ollama.ai/library/${name}/cloud`;
    Object.assign(files, (await modelFiles(path, JSON.stringify(value), [])).files);
  }
  await withFiles(files, async ({ inspected, createStore }) => {
    const store = createStore();
    const { source, info } = await store.find("config:cloud");
    assertEquals(source, { kind: "remote", host: "https://cloud.test", model: "gpt-oss:120b" });
    assertEquals(info, {
      architecture: "gptoss",
      parameterCount: 116_800_000_000,
      quantization: "MXFP4",
      trainedContextLength: 131072,
      embeddingLength: 2880,
      fileSize: 0,
      hasChatTemplate: true,
      callsTools: false,
      thinks: true,
      fillsInMiddle: false,
      readsImages: false,
      isEmbeddingModel: false,
    });
    const { info: other } = await store.find("plain:cloud");
    assertEquals([other.hasChatTemplate, other.callsTools, other.thinks], [true, true, false]);
    assertEquals((await store.find("embedder:cloud")).info.isEmbeddingModel, true);
    assertEquals([(await store.list()).length, inspected], [3, []]);
  });
});

Deno.test("manifests that are links to blobs go before those in files", async () => {
  const { files, manifest } = await modelFiles(
    "registry.ollama.ai/library/a/latest",
    CONFIG,
    WHOLE,
  );
  const old = await modelFiles("registry.ollama.ai/library/a/latest", CONFIG, [
    [MEDIA.model, "old"],
  ]);
  const blob = `blobs/sha256-${await sha256(manifest)}`;
  await withFiles({ ...files, ...old.files, [blob]: manifest }, async ({ folder, createStore }) => {
    const linked = `${folder}/manifests-v2/registry.ollama.ai/library/a`;
    await Deno.mkdir(linked, { recursive: true });
    await Deno.symlink(`../../../../${blob}`, `${linked}/latest`);
    const store = createStore();
    const entry = await store.find("a");
    assertEquals([entry.info.fileSize, await store.digest(entry)], [7, await sha256(manifest)]);
    assertEquals((await store.list()).length, 1);
    // Only the name goes away that was hidden: no blob of the linked one.
    assertEquals((await store.prune({ graceMilliseconds: -1000 })).removed, 0);
    await store.remove("a");
    assertEquals(await store.list(), []);
    await assertRejects(() => Deno.lstat(linked), Deno.errors.NotFound);
  });
});

Deno.test("a store that cannot be written is listed, and says what hinders a change", async () => {
  const { files } = await modelFiles("registry.ollama.ai/library/a/latest", CONFIG, WHOLE);
  await withFiles(files, async ({ folder, createStore }) => {
    // The administrator may write anywhere, so the lock is a folder, which nobody can open as a file.
    await Deno.mkdir(`${folder}/.quern-lock`);
    const store = createStore();
    assertEquals((await store.list()).map(({ name }) => name), ["a:latest"]);
    assertEquals((await store.find("a")).name, "a:latest");
    const { removed, skipped } = await store.prune();
    assertEquals(removed, 0);
    assertStringIncludes(skipped!, "The store was not cleaned up: ");
  });
});

Deno.test("the layers of control vectors have the scales of the config, 1 each without", async () => {
  const blobs: Blob[] = [
    [MEDIA.model, "weights"],
    [MEDIA.controlVector, "one"],
    [MEDIA.controlVector, "two"],
  ];
  const find = async (scales: string) => {
    const config = CONFIG.replace("{", `{${scales}`);
    const { files } = await modelFiles("registry.ollama.ai/library/steered/latest", config, blobs);
    let found: number[] | undefined;
    await withFiles(files, async ({ createStore }) => {
      const { defaults } = await createStore().find("steered");
      found = defaults.controlVectors?.map(({ scale }) => scale);
    });
    return found;
  };
  assertEquals(await find('"control_scales":[0.5,-2],'), [0.5, -2]);
  assertEquals(await find(""), [1, 1]);
  for (const scales of ["[1]", "2", '["1",2]']) {
    const reading = () => find(`"control_scales":${scales},`);
    await assertRejects(reading, StoreError, "control_scales of its config are not 2 numbers");
  }
});
