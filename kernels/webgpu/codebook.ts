// The codebooks of weight formats on the GPU. Each is uploaded once per device, for all matrices.

import type { Codebook, QuantFormat } from "../quants/mod.ts";
import type { Gpu } from "./gpu.ts";

const buffers = new WeakMap<Gpu, Map<Codebook, GPUBuffer>>();

/** The codebook that the format's snippet reads as `w_codebook`; undefined if it reads none. */
export function codebookBuffer(device: Gpu, format: QuantFormat): GPUBuffer | undefined {
  const { codebook } = format;
  if (!codebook) return undefined;
  const ofDevice = buffers.get(device) ?? new Map<Codebook, GPUBuffer>();
  buffers.set(device, ofDevice);
  let buffer = ofDevice.get(codebook);
  if (!buffer) {
    buffer = device.buffer(`${format.name} codebook`, codebook.words.byteLength, "weights");
    device.write(buffer, 0, codebook.words);
    ofDevice.set(codebook, buffer);
  }
  return buffer;
}
