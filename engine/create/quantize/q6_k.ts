// Quantizes to Q6_K: super-blocks of sixteen groups of 16 weights. A weight is a half float times
// an 8-bit scale of its group times a code from -32 to 31. The scale of a group is that of least
// squares, for the best of several roundings. Layout as in ggml-common.h.

const SUPER_BLOCK = 256;
const BYTES = 210;
const GROUP = 16;
const GROUPS = SUPER_BLOCK / GROUP;
/** The unsigned code of zero. */
const ZERO = 32;

/** Offsets, in codes, of the largest code in the roundings that are tried. */
const STRETCHES = Float64Array.from({ length: 19 }, (_, i) => (i - 9) / 10);

const scales = new Float64Array(GROUPS);
const codes = new Uint8Array(SUPER_BLOCK);

/** Writes Q6_K. */
export function q6K(weights: Float32Array, target: Uint8Array): void {
  const view = new DataView(target.buffer, target.byteOffset, target.byteLength);
  for (let first = 0, at = 0; first < weights.length; first += SUPER_BLOCK, at += BYTES) {
    let furthest = 0;
    for (let group = 0; group < GROUPS; group++) {
      const scale = scales[group] = fit(weights, first + group * GROUP);
      if (Math.abs(scale) > Math.abs(furthest)) furthest = scale;
    }
    // The scale of the largest magnitude becomes -128.
    view.setFloat16(at + 208, furthest / -128, true);
    const unit = view.getFloat16(at + 208, true);
    for (let group = 0; group < GROUPS; group++) {
      const multiple = unit === 0 ? 0 : clamp(Math.round(scales[group] / unit), 128);
      view.setInt8(at + 192 + group, multiple);
      round(weights, first, group * GROUP, unit * multiple);
    }
    writeCodes(target, at);
  }
}

/** Rounds a group to codes of a given scale. */
function round(weights: Float32Array, first: number, start: number, scale: number): void {
  const inverse = scale === 0 ? 0 : 1 / scale;
  for (let i = start; i < start + GROUP; i++) {
    codes[i] = clamp(Math.round(weights[first + i] * inverse), ZERO) + ZERO;
  }
}

/**
 * Writes the lower four bits in 128 bytes, then the upper two in 64: 64 and 32 bytes for each half.
 */
function writeCodes(target: Uint8Array, at: number): void {
  for (let half = 0; half < 2; half++) {
    const first = half * 128;
    for (let i = 0; i < 64; i++) {
      target[at + half * 64 + i] = codes[first + i] & 15 | (codes[first + 64 + i] & 15) << 4;
    }
    for (let i = 0; i < 32; i++) {
      target[at + 128 + half * 32 + i] = codes[first + i] >> 4 |
        codes[first + 32 + i] >> 4 << 2 | codes[first + 64 + i] >> 4 << 4 |
        codes[first + 96 + i] >> 4 << 6;
    }
  }
}

/** The best scale of a group. Errors are weighted by the square of the weight. */
function fit(weights: Float32Array, first: number): number {
  let furthest = 0;
  for (let i = first; i < first + GROUP; i++) {
    if (Math.abs(weights[i]) > Math.abs(furthest)) furthest = weights[i];
  }
  if (furthest === 0) return 0;

  let [bestScale, bestGain] = [0, 0];
  for (let attempt = 0; attempt < STRETCHES.length; attempt++) {
    const inverse = -(ZERO + STRETCHES[attempt]) / furthest;
    let [sumLL, sumXL] = [0, 0];
    for (let i = first; i < first + GROUP; i++) {
      const weight = weights[i];
      // Shifted above zero, where truncating rounds down.
      let code = ((weight * inverse + (ZERO + 0.5)) | 0) - ZERO;
      if (code >= ZERO) code = ZERO - 1;
      const importance = weight * weight;
      sumLL += importance * code * code;
      sumXL += importance * weight * code;
    }
    // The reduction of the sum of squared errors by this rounding.
    const gain = sumXL * sumXL / sumLL;
    if (gain > bestGain) [bestScale, bestGain] = [sumXL / sumLL, gain];
  }
  return bestScale;
}

/** Clamps to -limit … limit - 1. */
function clamp(code: number, limit: number): number {
  return code < -limit ? -limit : code >= limit ? limit - 1 : code;
}
