// What the tests of pull and push share: stores in temporary folders, models of random bytes, and
// transfers with small parts and short waits.

import { createHash, randomBytes } from "node:crypto";
import { type ModelInfo, ModelName, ModelStore } from "../../../engine/mod.ts";
import type { Layer, Manifest } from "../../../engine/mod.ts";
import { encodeManifest, MEDIA } from "../../../engine/mod.ts";
import type { TransferProgress } from "../../../server/registry/mod.ts";
import type { TransferTuning } from "../../../server/registry/tuning.ts";

/** Parts of 16 KiB and short delays; a stall is long, for tests on a machine with much to do. */
export const QUICK: Partial<TransferTuning> = {
  smallestPart: 2 ** 14,
  largestPart: 2 ** 16,
  uploadChunk: 50_000,
  firstDelay: 1,
  longestDelay: 4,
  retries: 3,
  stall: 20_000,
  commit: 20_000,
  progress: 2,
  record: 0,
  lockPoll: 5,
};

/** Where a registry hangs, it is soon found out; where only the machine did, it is tried again. */
export const IMPATIENT: Partial<TransferTuning> = { ...QUICK, stall: 300, retries: 20 };

const INFO: ModelInfo = {
  architecture: "llama",
  parameterCount: 1,
  quantization: "F32",
  trainedContextLength: 64,
  embeddingLength: 8,
  fileSize: 1,
  hasChatTemplate: false,
  callsTools: false,
  thinks: false,
  fillsInMiddle: false,
  readsImages: false,
  isEmbeddingModel: false,
};

/** A store over a folder; its models need not be GGUF files. */
export function openStore(folder: string): ModelStore {
  return new ModelStore({ folder, inspect: () => Promise.resolve(INFO) });
}

/** Runs a test with a folder of its own. */
export async function withFolder(test: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "quern-registry-" });
  try {
    await test(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** A model outside of any store. */
export interface SampleModel {
  manifest: Manifest;
  /** The manifest as a registry sends it. */
  bytes: Uint8Array<ArrayBuffer>;
  /** Content by digest. */
  blobs: Map<string, Uint8Array<ArrayBuffer>>;
  /** The layer of the weights. */
  weights: Layer;
}

/** A model of random weights, a template and a config. */
export function sampleModel(weightBytes = 300_000): SampleModel {
  const blobs = new Map<string, Uint8Array<ArrayBuffer>>();
  const layer = (mediaType: string, content: Uint8Array<ArrayBuffer>): Layer => {
    const digest = digestOf(content);
    blobs.set(digest, content);
    return { mediaType, digest, size: content.length };
  };
  const weights = layer(MEDIA.model, new Uint8Array(randomBytes(weightBytes)));
  const manifest: Manifest = {
    schemaVersion: 2,
    mediaType: MEDIA.manifest,
    config: layer(
      MEDIA.config,
      encode(JSON.stringify({ model_format: "gguf", random: Math.random() })),
    ),
    layers: [weights, layer(MEDIA.template, encode(`{{ .Prompt }} ${Math.random()}`))],
  };
  return { manifest, bytes: encodeManifest(manifest), blobs, weights };
}

/** Puts a model into a store. */
export async function addModel(
  store: ModelStore,
  name: string,
  { blobs, bytes }: SampleModel,
): Promise<void> {
  for (const [digest, content] of blobs) await store.blobs.put(content, { digest });
  await store.writeManifest(ModelName.parse(name), bytes);
}

/** Takes all reports of a transfer. */
export function collect(
  transfer: AsyncGenerator<TransferProgress>,
): Promise<TransferProgress[]> {
  return Array.fromAsync(transfer);
}

/** Digest of a content, like "sha256:…". */
export function digestOf(content: Uint8Array): string {
  return `sha256:${createHash("sha256").update(content).digest("hex")}`;
}

/** The bytes of a text. */
export function encode(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}

/** Names of the files among the blobs of a store, sorted. */
export async function blobFiles(store: ModelStore): Promise<string[]> {
  const entries = await Array.fromAsync(Deno.readDir(store.blobs.folder));
  return entries.map(({ name }) => name).sort();
}
