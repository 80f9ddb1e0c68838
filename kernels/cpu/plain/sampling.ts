// The choice of tokens in plain TypeScript: the best one at temperature 0 without penalties in one
// walk over the vocabulary, all else as the reference of kernels/ops/sampling has it.

import {
  hasPenalties,
  NO_TOKEN,
  sampleReference,
  type SamplerOptions,
  SAMPLING_BYTES,
  type SamplingOptions,
  unpackSampling,
} from "../../ops/sampling/mod.ts";
import { cpu } from "../memory.ts";

/** Chooses a token for each of the first outputs. */
export function sample({ buffers, vocabulary, context }: SamplerOptions) {
  const logits = cpu(buffers.logits).floats;
  const [outputRows, rows, history, masks, sampled, slots] = [
    ...[buffers.outputs, buffers.rows, buffers.history, buffers.mask],
    ...[buffers.sampled, buffers.slots],
  ].map((buffer) => cpu(buffer).words);
  const sampling = cpu(buffers.sampling).bytes;
  const maskWords = Math.ceil(vocabulary / 32);
  return (outputs: number) => {
    for (let output = 0; output < outputs; output++) {
      const [, position, slot] = rows.subarray(4 * outputRows[output], 4 * outputRows[output] + 3);
      const packed = sampling.slice(slot * SAMPLING_BYTES, (slot + 1) * SAMPLING_BYTES);
      const options = unpackSampling(packed.buffer);
      const own = logits.subarray(output * vocabulary, (output + 1) * vocabulary);
      const mask = masks.subarray(slot * maskWords, (slot + 1) * maskWords);
      const token = isGreedy(options)
        ? best(own, options.masked ? mask : undefined)
        : sampleReference(own, options, {
          position,
          history: history.subarray(slot * context, slot * context + position + 1),
          mask,
        }).token;
      sampled[output] = token;
      slots[2 * slot] = token === NO_TOKEN ? 0 : token;
      slots[2 * slot + 1] = position + 1;
    }
  };
}

function isGreedy(options: SamplingOptions): boolean {
  return options.temperature === 0 && !hasPenalties(options);
}

/** The first of the greatest logits that are allowed. */
function best(logits: Float32Array, mask: Uint32Array | undefined): number {
  let token = NO_TOKEN;
  let greatest = -Infinity;
  for (let id = 0; id < logits.length; id++) {
    const logit = logits[id];
    if (!(logit < Infinity)) return NO_TOKEN;
    if (logit <= greatest || (mask && !(mask[id >>> 5] >>> (id & 31) & 1))) continue;
    token = id;
    greatest = logit;
  }
  return token;
}
