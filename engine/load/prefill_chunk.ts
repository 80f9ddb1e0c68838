// How many tokens of a prompt a step takes by default, and how many texts a step of an encoder. More rows
// keep more of a large GPU busy, read the weights less often, and take more memory for activations.

import type { DeviceProfile } from "../../kernels/mod.ts";

/** Tokens of a prompt in a step of a GPU of which nothing is known, or that is short of memory. */
export const USUAL_CHUNK = 256;

/** Tokens of a prompt in a step of a large GPU: as many tiles of 64 by 64 as its hundred processors need. */
export const LARGE_CHUNK = 1024;

/** With a driver on the CPU few, so that an abort is noticed soon. */
const SOFTWARE_CHUNK = 64;

/** Bytes of the largest buffer from which a GPU is large: WebGPU does not tell how much memory it has. */
const LARGE_BUFFER = 2 ** 31 - 1;

/**
 * Texts of a step of an encoder, and rows up to which it takes several: more are not faster on a CPU, and
 * others would wait longer. Between steps texts hold nothing, so there are as many as fill one.
 */
export const ENCODER_STEP = { texts: 64, rows: 512 } as const;

/** Prompt tokens in a step of a device. The plan of a load takes fewer where memory is short. */
export function defaultChunk(
  { capabilities, maxBufferSize }: Pick<DeviceProfile, "capabilities" | "maxBufferSize">,
): number {
  if (capabilities.software) return SOFTWARE_CHUNK;
  return maxBufferSize >= LARGE_BUFFER ? LARGE_CHUNK : USUAL_CHUNK;
}
