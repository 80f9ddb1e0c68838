// Rotary frequencies by the scaling types of GGUF, and the two tables of cosines and sines that a
// rotation multiplies. All in f64, once per model. Papers: Su et al. 2021 (RoPE); Peng et al. 2023
// (YaRN); Wang et al. 2024 (M-RoPE, Qwen2-VL). The factors of llama3 and longrope come as a tensor.

/** The options of a rotary embedding, `<architecture>.rope.*`. */
export interface RopeOptions {
  /** Rotated elements of a head. */
  rotary: number;
  /** Base of the frequencies, such as 10000. */
  base: number;
  /** How the context is extended. */
  scaling?: "none" | "linear" | "yarn";
  /** Factor by which the trained context is extended; 0 for none. */
  factor?: number;
  /**
   * Divisors of the frequencies, one per pair (`rope_freqs.weight`). From 1e30 on a pair is not
   * rotated.
   */
  frequencyFactors?: Float32Array;
  /** YaRN: the context before the extension. */
  originalContext?: number;
  /** Factor of the rotated vectors, besides YaRN's. */
  attentionFactor?: number;
  /** YaRN: the extrapolation mix, and the numbers of rotations between which it ramps. */
  extensionFactor?: number;
  betaFast?: number;
  betaSlow?: number;
  /**
   * YaRN: rotated vectors are scaled by yarnLength(factor, lengthMultiplier), default 1, over
   * yarnLength(factor, scoreMultiplier), default 0. They are DeepSeek's `mscale` and
   * `mscale_all_dim`; the scale of attention scores has to be multiplied by the square of the
   * divisor.
   */
  lengthMultiplier?: number;
  scoreMultiplier?: number;
  /**
   * M-RoPE: numbers of pairs that rotate by each component of the position (time, height, width,
   * other), repeated over all pairs. In text the first three components are equal; the fourth is
   * always 0.
   */
  sections?: readonly number[];
  /** Whether sections alternate pair by pair, instead of following one another. */
  interleaved?: boolean;
}

/** The factor by which YaRN scales vectors, for a context extended `factor` times. */
export function yarnLength(factor: number, multiplier = 1): number {
  return factor > 1 ? 1 + 0.1 * multiplier * Math.log(factor) : 1;
}

/** Whether M-RoPE rotates a pair: whether it is in one of the first three sections. */
function inSections(pair: number, { sections, interleaved = false }: RopeOptions): boolean {
  if (!sections) return true;
  const [time, height, width, other = 0] = sections;
  const at = pair % (time + height + width + other);
  if (!interleaved) return at < time + height + width;
  return at < 3 * [time, height, width][at % 3];
}

/** A divisor of a frequency from which on a pair is not rotated. */
const UNROTATED = 1e30;

/**
 * Angle per position of each pair in radians, and the factor of the rotated vectors (YaRN's
 * mscale).
 */
export function ropeFrequencies(
  options: RopeOptions,
): { frequencies: Float64Array; length: number } {
  const { rotary, base, scaling = "none", frequencyFactors } = options;
  const factor = scaling === "none" ? 1 : options.factor || 1;
  const plain = Float64Array.from({ length: rotary / 2 }, (_, i) => {
    const divisor = frequencyFactors?.[i] ?? 1;
    const rotated = divisor < UNROTATED && inSections(i, options);
    return rotated ? base ** (-2 * i / rotary) / divisor : 0;
  });
  const length = options.attentionFactor ?? 1;
  if (scaling !== "yarn") {
    return { frequencies: plain.map((frequency) => frequency / factor), length };
  }
  const { originalContext = 0, extensionFactor = 1, betaFast = 32, betaSlow = 1 } = options;
  // Index of the pair that makes this number of rotations over the original context.
  const pairOf = (rotations: number) =>
    rotary * Math.log(originalContext / (rotations * 2 * Math.PI)) / (2 * Math.log(base));
  const low = Math.max(0, Math.floor(pairOf(betaFast)));
  const high = Math.min(rotary - 1, Math.ceil(pairOf(betaSlow)));
  const frequencies = plain.map((frequency, i) => {
    const ramp = Math.min(1, Math.max(0, (i - low) / Math.max(0.001, high - low)));
    const mix = (1 - ramp) * extensionFactor;
    return frequency * ((1 - mix) / factor + mix);
  });
  if (extensionFactor === 0) return { frequencies, length };
  const { lengthMultiplier = 1, scoreMultiplier = 0 } = options;
  const stretched = yarnLength(factor, lengthMultiplier) / yarnLength(factor, scoreMultiplier);
  return { frequencies, length: length * stretched };
}

/** Number of positions in the first part of the table, and the distance of positions in the second. */
export const LOW_POSITIONS = 256;

/**
 * A table of (cos, sin) of angles: [256, pairs] for positions 0 to 255, followed by [n, pairs] for
 * multiples of 256 up to `context`. The second part contains the factor of rotated vectors.
 */
export function ropeTable(options: RopeOptions, context: number): Float32Array {
  const { frequencies, length } = ropeFrequencies(options);
  const highPositions = Math.ceil(context / LOW_POSITIONS);
  const vectors = new Float32Array((LOW_POSITIONS + highPositions) * frequencies.length * 2);
  let at = 0;
  const add = (count: number, step: number, size: number) => {
    for (let position = 0; position < count; position++) {
      for (const frequency of frequencies) {
        const angle = position * step * frequency;
        vectors[at++] = Math.cos(angle) * size;
        vectors[at++] = Math.sin(angle) * size;
      }
    }
  };
  add(LOW_POSITIONS, 1, 1);
  add(highPositions, LOW_POSITIONS, length);
  return vectors;
}
