// Making models of files of all kinds: split models, projectors, adapters, folders of safetensors.

import { assert, assertEquals, assertRejects } from "@std/assert";
import type { CreateRequest } from "../../../engine/create/mod.ts";
import { formatModelfile, parseModelfile } from "../../../engine/create/modelfile.ts";
import { withTemporaryFile } from "../../../engine/create/staging.ts";
import { packError, unpackError } from "../../../engine/error_record.ts";
import { RequestError } from "../../../engine/errors.ts";
import {
  type GgufFile,
  readGguf,
  readRawMetadata,
  TensorReader,
  type WritableMetadata,
  writeGguf,
} from "../../../engine/gguf/mod.ts";
import { writeControlVector } from "../../../engine/hooks/mod.ts";
import { MEDIA, type ModelStore, StoreError } from "../../../engine/store/mod.ts";
import { writeTinyLlama } from "../../tiny_model.ts";
import { safetensorsBytes, transformersTensors, writeFolder } from "./hugging_face_folder.ts";
import { configOf, SMALL_MODELS, writeSmallModel } from "./small_models.ts";
import { tokenizerFiles } from "./tokenizer_files.ts";
import { createStore, make, upload } from "./world.ts";

const folder = await Deno.makeTempDir();
globalThis.addEventListener("unload", () => Deno.removeSync(folder, { recursive: true }));
const tiny = `${folder}/tiny.gguf`;
await writeTinyLlama(tiny);

/** Metadata, shapes and bytes of tensors, whatever files they are in. */
function contentOf(file: GgufFile, reader: TensorReader) {
  const isSplit = (key: string) => key.startsWith("split.");
  const bytes = (name: string) => {
    const chunks = [...reader.chunks(file.tensors.get(name)!)].map((chunk) => chunk.bytes.toHex());
    return chunks.join("");
  };
  return {
    metadata: Object.entries(file.metadata).filter(([key]) => !isSplit(key)),
    tensors: [...file.tensors.values()].map(({ name, shape, type }) => {
      return { name, shape, type, bytes: bytes(name) };
    }),
  };
}

async function readContent(path: string) {
  const file = await readGguf(path);
  using reader = await TensorReader.open(file);
  return contentOf(file, reader);
}

/** Splits the tiny model into files of some tensors each; of the first none, if there are three. */
async function splitTiny(count: number): Promise<string[]> {
  const whole = await readGguf(tiny);
  using reader = await TensorReader.open(whole);
  const names = [...whole.tensors.keys()];
  const paths: string[] = [];
  for (let no = 0; no < count; no++) {
    const own = names.filter((_, index) => count === 3 && no === 0 ? false : index % count === no);
    if (count === 3 && no === 1) own.push(...names.filter((_, index) => index % 3 === 0));
    const place: WritableMetadata = {
      "split.no": { uint16: no },
      "split.count": { uint16: count },
      "split.tensors.count": { int32: names.length },
    };
    const path = `${folder}/${count}-0000${no + 1}-of-0000${count}.gguf`;
    const metadata = no === 0 ? Object.fromEntries(await readRawMetadata(tiny)) : {};
    await writeGguf(
      path,
      { ...metadata, ...place },
      own.map((name) => {
        const { shape, typeName } = whole.tensors.get(name)!;
        const data = [...reader.chunks(whole.tensors.get(name)!)].map(({ bytes }) => bytes.slice());
        return { name, shape, type: typeName, data: () => data };
      }),
    );
    paths.push(path);
  }
  return paths;
}

async function pathOf(store: ModelStore, name: string): Promise<string> {
  const { source } = await store.find(name);
  assert(source.kind === "files");
  return source.path;
}

Deno.test("a split model becomes one file with the same metadata and tensors", async () => {
  const expected = await readContent(tiny);
  const byName = (content: typeof expected) =>
    content.tensors.toSorted((a, b) => a.name < b.name ? -1 : 1);
  for (const count of [2, 3]) {
    const { store } = await createStore();
    const files: Record<string, string> = {};
    const paths = await splitTiny(count);
    for (const path of paths.toReversed()) {
      files[path.slice(folder.length + 1)] = await upload(store, path);
    }
    const statuses = await make(store, { model: "joined", files });
    assertEquals(statuses.slice(0, 3), ["parsing GGUF", "joining files", "hashing model"]);
    const joined = await readContent(await pathOf(store, "joined"));
    assertEquals(joined.metadata, expected.metadata);
    assertEquals(byName(joined), byName(expected));
    await make(store, { model: "small", files, quantize: "Q8_0" });
    assertEquals((await store.find("small")).info.quantization, "Q8_0");
    delete files[paths[1]!.slice(folder.length + 1)];
    await assertRejects(() => make(store, { model: "x", files }), RequestError, "not beside it");
  }
});

Deno.test("a split model that lies in the store's folder becomes one file too", async () => {
  const { store, folder: models } = await createStore();
  for (const path of await splitTiny(2)) {
    await Deno.copyFile(path, `${models}/${path.slice(folder.length + 1)}`);
  }
  await make(store, { model: "one", from: "2" });
  assertEquals((await readGguf(await pathOf(store, "one"))).shards.length, 1);
});

const projectors: [how: string, metadata: WritableMetadata][] = [
  ["clip", { "general.architecture": "clip", "clip.has_vision_encoder": true }],
  ["by its type", { "general.architecture": "gemma3", "general.type": "mmproj" }],
  ["by its blocks", {
    "general.architecture": "mllama",
    "mllama.vision.block_count": { uint32: 2 },
  }],
];

for (const [how, metadata] of projectors) {
  Deno.test(`a projector, ${how}, becomes a layer behind the weights`, async () => {
    const { store } = await createStore();
    const path = `${folder}/a-projector.gguf`;
    await writeGguf(path, metadata, []);
    const files = { "a.gguf": await upload(store, path), "b.gguf": await upload(store, tiny) };
    await make(store, { model: "sees", files });
    const { manifest, source } = await store.find("sees");
    assertEquals(manifest!.layers.map((layer) => layer.mediaType), [MEDIA.model, MEDIA.projector]);
    assert(source.kind === "files" && source.projector === store.blobs.pathOf(files["a.gguf"]));
    await assertRejects(
      () => make(store, { model: "x", files: { "a.gguf": files["a.gguf"] } }),
      RequestError,
      "no model among the files",
    );
    // Over a model that is there, it needs no weights.
    await make(store, { model: "plain", files: { "b.gguf": files["b.gguf"] } });
    await make(store, { model: "later", from: "plain", files: { "a.gguf": files["a.gguf"] } });
    assertEquals((await store.find("later")).source, source);
  });
}

Deno.test("an adapter becomes a layer if it is one and fits the architecture", async () => {
  const { store } = await createStore();
  const write = async (metadata: WritableMetadata) => {
    const path = `${folder}/adapter.gguf`;
    await writeGguf(path, metadata, []);
    return await upload(store, path);
  };
  const kind = { "general.type": "adapter", "adapter.type": "lora" };
  const digest = await write({ "general.architecture": "llama", ...kind });
  const files = { "tiny.gguf": await upload(store, tiny) };
  await make(store, { model: "tuned", files, adapters: { "lora.gguf": digest } });
  const { source } = await store.find("tuned");
  assert(source.kind === "files");
  assertEquals(source.adapters, [store.blobs.pathOf(digest)]);
  await make(store, { model: "again", from: "tuned", system: "Hi" });
  assertEquals((await store.find("again")).source, source);

  const refuse = async (metadata: WritableMetadata, sentence: string) => {
    const adapters = { "x.gguf": await write(metadata) };
    const request: CreateRequest = { model: "x", from: "tuned", adapters };
    await assertRejects(() => make(store, request), RequestError, sentence);
  };
  await refuse({ "general.architecture": "qwen2", ...kind }, 'for models of architecture "qwen2"');
  await refuse({ ...kind, "adapter.type": "ia3" }, '"x.gguf" is not a LoRA adapter');
  await assertRejects(
    () => make(store, { model: "x", files: { "a.gguf": digest } }),
    RequestError,
    "an adapter has to be among the adapters",
  );
});

Deno.test("a folder of safetensors is converted, and quantized on the way", async () => {
  const { store } = await createStore();
  const model = SMALL_MODELS[0]!;
  const tensors = await transformersTensors(await writeSmallModel(model), model.undoing);
  const source = await writeFolder({
    "config.json": configOf(model),
    "model.safetensors": safetensorsBytes(tensors),
    ...tokenizerFiles(),
  });
  const files: Record<string, string> = {};
  for await (const { name } of Deno.readDir(source)) {
    files[name] = await upload(store, `${source}/${name}`);
  }
  const statuses = await make(store, { model: "converted", files });
  assertEquals(statuses[0], "converting model");
  const { info, config } = await store.find("converted");
  assertEquals(config!.model_family, info.architecture);
  const quantized = await make(store, { model: "small", files, quantize: "q8_0" });
  assertEquals(quantized.slice(0, 2), [
    "converting model",
    `quantizing ${info.quantization} model to Q8_0`,
  ]);
  delete files["config.json"];
  await assertRejects(() => make(store, { model: "x", files }), RequestError, "config.json");
  const left = (await Array.fromAsync(Deno.readDir(store.blobs.folder))).map(({ name }) => name);
  assert(left.every((name) => /^sha256-[0-9a-f]{64}$/.test(name)), left.join());
});

Deno.test("work that finds the disk full says so, on this thread or another", async () => {
  const { store } = await createStore();
  const full = Object.assign(new Error("No space left on device (os error 28)"), {
    code: "ENOSPC",
  });
  for (const error of [full, unpackError(packError(full))]) {
    const failure = await assertRejects(
      () => withTemporaryFile(store.blobs, () => Promise.reject(error)),
      StoreError,
      "the disk is full: make room",
    );
    assertEquals(failure.cause, error);
  }
});

Deno.test("a draft model is a layer of the model that it drafts for, by name or as a file", async () => {
  const { store } = await createStore();
  const digest = await upload(store, tiny);
  await make(store, { model: "small", files: { "tiny.gguf": digest } });
  await make(store, { model: "large", from: "small", draft: "small" });
  const path = store.blobs.pathOf(digest);
  const draftOf = async (name: string) => {
    const { source } = await store.find(name);
    return source.kind === "files" ? source.draft : undefined;
  };
  assertEquals(await draftOf("large"), path);
  await make(store, { model: "other", from: "small", draftFiles: { "tiny.gguf": digest } });
  assertEquals(await draftOf("other"), path);
  await make(store, { model: "another", from: "other" });
  assertEquals(await draftOf("another"), path);
  assertEquals(await draftOf("small"), undefined);
  const modelfile = parseModelfile(formatModelfile(await store.find("large")));
  assertEquals(modelfile.draft, path);
  const both = { model: "x", from: "small", draft: "small", draftFiles: { "a.gguf": digest } };
  await assertRejects(() => make(store, both), RequestError, "both 'draft' and 'draft_files'");
  const text = await store.blobs.put(new TextEncoder().encode("no model"));
  const wrong = { model: "x", from: "small", draftFiles: { "a.gguf": text.digest } };
  await assertRejects(() => make(store, wrong), RequestError, "not in GGUF format");
});

Deno.test("a draft model with other tokens is refused when the model is made", async () => {
  const { store } = await createStore();
  await make(store, { model: "small", files: { "tiny.gguf": await upload(store, tiny) } });
  const other = `${folder}/other.gguf`;
  await writeTinyLlama(other, { vocabulary: 4000 });
  const draftFiles = { "other.gguf": await upload(store, other) };
  await assertRejects(
    () => make(store, { model: "large", from: "small", draftFiles }),
    RequestError,
    "the draft model does not fit: it has 4000 tokens, and the model has 300; a draft model has to be",
  );
});

Deno.test("an embedding model refuses control vectors, since nothing steers what it gives", async () => {
  const { store } = await createStore();
  const path = `${folder}/bert.gguf`;
  await writeGguf(path, {
    "general.architecture": "bert",
    "bert.block_count": { uint32: 1 },
    "bert.context_length": { uint32: 8 },
    "bert.embedding_length": { uint32: 4 },
    "bert.pooling_type": { uint32: 1 },
  }, []);
  const files = { "bert.gguf": await upload(store, path) };
  await make(store, { model: "bert", files });
  const vector = `${folder}/vector.gguf`;
  const directions = new Map([[1, new Float32Array(4)]]);
  await writeControlVector(vector, { architecture: "bert", directions });
  const controlVectors = [{ name: "v.gguf", digest: await upload(store, vector) }];
  await assertRejects(
    () => make(store, { model: "x", from: "bert", controlVectors }),
    RequestError,
    "the model gives no answers to steer",
  );
});
