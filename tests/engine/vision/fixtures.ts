// Image encoders of the conformance data, and what they make of given preprocessed pixels.

import { assertEquals } from "@std/assert";
import { type GgufFile, readGguf } from "../../../engine/gguf/mod.ts";
import type { ImageEncoder } from "../../../engine/vision/mod.ts";
import { DATA } from "../../conformance/logits.ts";

/** What a manifest says of an image that was preprocessed. */
interface Preprocessed {
  width: number;
  height: number;
  n_tokens: number;
}

interface Manifest {
  preprocessing: { mean: number[]; std: number[] };
  images: Record<string, { embd_shape: [number, number]; preprocessed: Preprocessed[] }>;
}

async function readManifest(name: string): Promise<Manifest> {
  return JSON.parse(await Deno.readTextFile(new URL(`vision/${name}/manifest.json`, DATA)));
}

/** The embeddings of all parts of an image, one after the other. */
export async function encodeParts(
  encoder: ImageEncoder,
  fixture: string,
  image: string,
): Promise<Float32Array> {
  const { preprocessing: { mean, std }, images } = await readManifest(fixture);
  const bytes = await Deno.readFile(new URL(`vision/${fixture}/${image}.pixels.u8`, DATA));
  const all: number[] = [];
  let from = 0;
  for (const { width, height, n_tokens } of images[image].preprocessed) {
    const part = bytes.subarray(from, from += 3 * width * height);
    const pixels = Float32Array.from(part, (byte, i) => (byte / 255 - mean[i % 3]) / std[i % 3]);
    const embeddings = await encoder.encode(pixels, { width, height });
    assertEquals(embeddings.length, n_tokens * encoder.columns);
    for (const value of embeddings) all.push(value);
  }
  return Float32Array.from(all);
}

/** Every fixture, and its type of projector. */
export const FIXTURES: readonly (readonly [name: string, projectorType: string])[] = [
  ["gemma3", "gemma3"],
  ["llava", "mlp"],
  ["idefics3", "idefics3"],
  ["qwen25vl", "qwen2.5vl_merger"],
  ["pixtral", "pixtral"],
  ["mistral3", "pixtral"],
  ["qwen3vl", "qwen3vl_merger"],
  ["llama4", "llama4"],
  ["gemma4v", "gemma4v"],
];

/** The encoder's file of a fixture. */
export function readFixture(name: string): Promise<GgufFile> {
  return readGguf(new URL(`vision/${name}/mmproj.gguf`, DATA));
}
