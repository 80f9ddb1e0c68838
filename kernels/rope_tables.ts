// Rotary frequencies as the scaling types of GGUF define them, and the two tables of unit vectors
// that rotate.wgsl multiplies. All in f64 on the CPU, once per model.
// Papers: Su et al. 2021 (RoPE); Peng et al. 2023 (YaRN); the llama3 factors come as a tensor.

/** What `<architecture>.rope.*` says. */
export interface RopeOptions {
  /** Rotated elements of a head. */
  rotary: number;
  /** Base of the frequencies, such as 10000. */
  base: number;
  /** Context stretching. */
  scaling?: "none" | "linear" | "yarn";
  /** How many times the trained context is stretched. */
  factor?: number;
  /** Divisors of the frequencies, one per pair (`rope_freqs.weight`). */
  frequencyFactors?: Float32Array;
  /** YaRN: the context before stretching. */
  originalContext?: number;
  /** YaRN: extrapolation mix, attention factor, and the rotations between which it ramps. */
  extensionFactor?: number;
  attentionFactor?: number;
  betaFast?: number;
  betaSlow?: number;
}

/** Angle per position of each pair, and the length of the rotated vectors (YaRN's mscale). */
export function ropeFrequencies(
  options: RopeOptions,
): { frequencies: Float64Array; length: number } {
  const { rotary, base, scaling = "none", frequencyFactors } = options;
  const stretch = scaling === "none" ? 1 : 1 / (options.factor || 1);
  const frequencies = new Float64Array(rotary / 2);
  const plain = (i: number) => base ** (-2 * i / rotary) / (frequencyFactors?.[i] ?? 1);
  let length = options.attentionFactor ?? 1;
  if (scaling !== "yarn") {
    for (let i = 0; i < rotary / 2; i++) frequencies[i] = plain(i) * stretch;
    return { frequencies, length };
  }
  const { originalContext = 0, extensionFactor = 1, betaFast = 32, betaSlow = 1 } = options;
  // Pair number that turns `rotations` times over the original context.
  const pairOf = (rotations: number) =>
    rotary * Math.log(originalContext / (rotations * 2 * Math.PI)) / (2 * Math.log(base));
  const low = Math.max(0, Math.floor(pairOf(betaFast)));
  const high = Math.min(rotary - 1, Math.ceil(pairOf(betaSlow)));
  for (let i = 0; i < rotary / 2; i++) {
    const ramp = Math.min(1, Math.max(0, (i - low) / Math.max(0.001, high - low)));
    const mix = (1 - ramp) * extensionFactor;
    frequencies[i] = plain(i) * (stretch * (1 - mix) + mix);
  }
  if (extensionFactor !== 0) length *= 1 + 0.1 * Math.log(1 / stretch);
  return { frequencies, length };
}

/** Positions per step of the high table. */
export const TURN = 256;

/**
 * Unit vectors (cos, sin): low [256, pairs] of the positions 0 to 255, high [n, pairs] of their
 * multiples of 256 up to `context`; the high one carries the length.
 */
export function ropeTables(
  options: RopeOptions,
  context: number,
): { low: Float32Array; high: Float32Array } {
  const { frequencies, length } = ropeFrequencies(options);
  const table = (count: number, step: number, size: number) => {
    const vectors = new Float32Array(count * frequencies.length * 2);
    for (let position = 0, at = 0; position < count; position++) {
      for (const frequency of frequencies) {
        const angle = position * step * frequency;
        vectors[at++] = Math.cos(angle) * size;
        vectors[at++] = Math.sin(angle) * size;
      }
    }
    return vectors;
  };
  return { low: table(TURN, 1, 1), high: table(Math.ceil(context / TURN), TURN, length) };
}
