// An application whose models really see: a tiny Llama and a tiny SigLIP with pixel shuffle, as in
// SmolVLM, both of random weights, in a store whose manifests have a layer for the projector. And
// pictures for them. What encoders compute is tested with the engine.

import { createModel, inspectModel, loadModel } from "../../../../engine/mod.ts";
import { ModelManager, ModelStore, usableProjector } from "../../../../engine/mod.ts";
import { ImageEncoder } from "../../../../engine/vision/mod.ts";
import { randomWeights } from "../../../../bench/random_weights.ts";
import { tokenizerMetadata } from "../../../../bench/synthetic_model.ts";
import { createApp } from "../../../../server/http/app.ts";
import { createLog } from "../../../../server/log.ts";
import { folder, tinyLoad } from "../../../engine/harness.ts";
import { pngFile } from "../../../engine/vision/image_files.ts";
import { randomFloats } from "../../../numbers.ts";
import { writeModelFile } from "../../../model_file.ts";
import { TOOL_TEMPLATE, writeTinyLlama } from "../../../tiny_model.ts";
import { checkAnswers } from "./check_answers.ts";

/** Columns of the decoder's embeddings, and of the encoder's. */
const WIDTH = 64;
/** Sides in pixels: of a patch, of a tile, and of the longer side of a picture that is cut to tiles. */
const [PATCH, TILE, LONGEST] = [8, 32, 64];
/** Patches on each side of the square that becomes a row. */
const MERGE = 2;
const VOCABULARY = 300;

/** The model that sees. */
export const VISION_MODEL = "sees";
/** Its model without the projector. */
export const TEXT_MODEL = "blind";
/** Its model with a projector of a type that does not run. */
export const UNUSABLE_MODEL = "dim";

const PART = "<fake_token_around_image>";
/** What the model reads around a part: special tokens, as in the vocabularies of such models. */
const MARKERS = [PART, "<global-img>", "<row_1_col_1>", "<row_1_col_2>"];

/** A model in a store of its own. */
export interface VisionApp {
  app: ReturnType<typeof createApp>;
  /** Of the store. */
  folder: string;
  /** Paths of the files of the model that sees. */
  files: { text: string; projector: string };
}

/**
 * Builds an application with the three models. They go away with the process.
 *
 * @param name of a folder for the models that no other test of the process uses
 */
export async function createVisionApp(name: string): Promise<VisionApp> {
  const files = { text: await writeText(name), projector: await writeProjector("idefics3") };
  const models = `${folder}/${name}`;
  const store = new ModelStore({ folder: models, inspect: inspectModel });
  const upload = async (path: string) => (await store.blobs.put(await Deno.readFile(path))).digest;
  const { signal } = new AbortController();
  const create = (model: string, files: Record<string, string>) =>
    Array.fromAsync(createModel(store, { model, files }, { signal }));
  const text = await upload(files.text);
  await create(VISION_MODEL, { "a.gguf": text, "b.gguf": await upload(files.projector) });
  await create(TEXT_MODEL, { "a.gguf": text });
  const unknown = await upload(await writeProjector("another"));
  await create(UNUSABLE_MODEL, { "a.gguf": text, "b.gguf": unknown });
  const manager = new ModelManager({
    store,
    async open(source, options) {
      if (source.kind !== "files") throw new Error("Expected a model of this machine");
      const projector = await usableProjector(source);
      const load = { ...tinyLoad, contextLength: 1024, ...options, ...projector };
      return await loadModel(source.path, load);
    },
  });
  globalThis.addEventListener("unload", () => void manager.closeAll());
  const log = createLog({ write: () => {} });
  const app = checkAnswers(createApp({ store, manager, log, version: "0" }));
  return { app, folder: models, files };
}

/** Loads the model that sees as a library does. */
export function loadVisionModel({ files: { text, projector } }: VisionApp) {
  return loadModel(text, { ...tinyLoad, contextLength: 1024, projector });
}

/** A picture of noise, 64 x 32 pixels as a PNG file: it is cut to two tiles, and has an overview. */
export function picture(seed: number): Uint8Array {
  const [width, height] = [LONGEST, TILE];
  const data = randomFloats(3 * width * height, seed);
  return pngFile({ width, height, data: [...data].map((value) => Math.round(127 * value) & 255) });
}

/** Tiles of a picture, with the overview. */
export const PICTURE_TILES = 3;

/** Rows that it takes in a prompt. */
export const PICTURE_ROWS = PICTURE_TILES * (TILE / PATCH / MERGE) ** 2;

/** What the model reads of it, but for the rows. */
export const PICTURE_MARKERS =
  `${PART}<row_1_col_1>${PART}<row_1_col_2>\n\n${PART}<global-img>${PART}`;

/** How many tiles are encoded while something runs. */
export async function countEncoded(run: () => Promise<unknown>): Promise<number> {
  const { encode } = ImageEncoder.prototype;
  let count = 0;
  ImageEncoder.prototype.encode = function (...parameters) {
    count++;
    return encode.apply(this, parameters);
  };
  try {
    await run();
  } finally {
    ImageEncoder.prototype.encode = encode;
  }
  return count;
}

async function writeText(name: string): Promise<string> {
  const metadata = tokenizerMetadata(VOCABULARY);
  const [tokens, types] = ["tokens", "token_type"].map((key) => metadata[`tokenizer.ggml.${key}`]);
  const first = VOCABULARY - MARKERS.length;
  await Deno.mkdir(`${folder}/${name}`);
  const path = `${folder}/${name}-text.gguf`;
  await writeTinyLlama(path, {
    template: TOOL_TEMPLATE,
    context: 1024,
    metadata: {
      "tokenizer.ggml.tokens": [...(tokens as string[]).slice(0, first), ...MARKERS],
      "tokenizer.ggml.token_type": (types as Int32Array).fill(3, first),
    },
  });
  return path;
}

function writeProjector(type: string): Promise<string> {
  const square = [WIDTH, WIDTH];
  const block = "v.blk.0.";
  const shapes: Record<string, number[]> = {
    "v.patch_embd.weight": [PATCH, PATCH, 3, WIDTH],
    "v.patch_embd.bias": [WIDTH],
    "v.position_embd.weight": [WIDTH, (TILE / PATCH) ** 2],
    ...Object.fromEntries(
      ["q", "k", "v", "out"].map((part) => [`${block}attn_${part}.weight`, square]),
    ),
    ...Object.fromEntries(
      ["ln1", "ln2"].flatMap((norm) =>
        ["weight", "bias"].map((part) => [`${block}${norm}.${part}`, [WIDTH]])
      ),
    ),
    [`${block}ffn_up.weight`]: [WIDTH, 2 * WIDTH],
    [`${block}ffn_down.weight`]: [2 * WIDTH, WIDTH],
    "v.post_ln.weight": [WIDTH],
    "v.post_ln.bias": [WIDTH],
    "mm.model.fc.weight": [MERGE ** 2 * WIDTH, WIDTH],
  };
  const tensors = Object.entries(shapes).map(([name, shape], i) => {
    const values = shape.reduce((product, length) => product * length, 1);
    const inputs = shape.length > 1 ? values / shape.at(-1)! : WIDTH;
    const mean = /(ln\d|post_ln)\.weight$/.test(name) ? 1 : 0;
    const distribution = { mean, deviation: 1 / Math.sqrt(inputs), seed: i + 1 };
    return { name, shape, type: "F32", data: () => randomWeights("F32", values, distribution) };
  });
  return writeModelFile({
    "general.architecture": "clip",
    "clip.has_vision_encoder": true,
    "clip.projector_type": type,
    "clip.use_gelu": true,
    "clip.vision.block_count": 1,
    "clip.vision.embedding_length": WIDTH,
    "clip.vision.feed_forward_length": 2 * WIDTH,
    "clip.vision.projection_dim": WIDTH,
    "clip.vision.attention.head_count": 2,
    "clip.vision.attention.layer_norm_epsilon": 1e-6,
    "clip.vision.image_size": TILE,
    "clip.vision.patch_size": PATCH,
    "clip.vision.preproc_image_size": LONGEST,
    "clip.vision.projector.scale_factor": MERGE,
    "clip.vision.image_mean": new Float32Array([0.5, 0.5, 0.5]),
    "clip.vision.image_std": new Float32Array([0.5, 0.5, 0.5]),
  }, tensors);
}
