// Rotary position embedding (Su et al. 2021): pairs of elements turn by an angle that grows with the
// position. Stretched contexts by the factors of Llama 3, and by YaRN (Peng et al. 2023).

import type { Vector } from "./numbers.ts";

/** How heads turn. */
export interface Rotation {
  /** Angle per position of each pair. What lies behind the pairs of a head does not turn. */
  frequencies: Vector;
  /** Elements 2i and 2i + 1, as in the paper, or i and i + pairs, as in GPT-NeoX. */
  pairs: "adjacent" | "half";
  /** Factor of the turned elements. Default 1. */
  length?: number;
}

/** base^(-2i / rotary) for each pair. */
export function frequencies(rotary: number, base: number): Vector {
  return Array.from({ length: rotary / 2 }, (_, i) => base ** (-2 * i / rotary));
}

/**
 * YaRN: pairs that turn often within the original context stay, those that turn less than once are
 * slowed down by `factor`, and between the two there is a ramp.
 */
export function yarn(
  rotary: number,
  { base, factor, original }: { base: number; factor: number; original: number },
): Vector {
  const [fast, slow] = [32, 1];
  /** The pair that turns so often within the original context. */
  const pairTurning = (turns: number) =>
    rotary / 2 * Math.log(original / (2 * Math.PI * turns)) / Math.log(base);
  const first = Math.max(Math.floor(pairTurning(fast)), 0);
  const last = Math.min(Math.ceil(pairTurning(slow)), rotary - 1);
  return frequencies(rotary, base).map((frequency, i) => {
    const slowed = Math.min(1, Math.max(0, (i - first) / (last - first)));
    return frequency * (1 - slowed) + frequency / factor * slowed;
  });
}

/** A head at a position. */
export function rotate(head: Vector, position: number, rotation: Rotation): Vector {
  const { frequencies, pairs, length = 1 } = rotation;
  const turned = [...head];
  for (const [i, frequency] of frequencies.entries()) {
    const [a, b] = pairs === "adjacent" ? [2 * i, 2 * i + 1] : [i, i + frequencies.length];
    const [cos, sin] = [Math.cos(position * frequency), Math.sin(position * frequency)];
    turned[a] = length * (head[a] * cos - head[b] * sin);
    turned[b] = length * (head[a] * sin + head[b] * cos);
  }
  return turned;
}

/** The heads of all tokens, the first of which is at position 0. */
export function rotateAll(rows: readonly Vector[][], rotation: Rotation): Vector[][] {
  return rows.map((heads, position) => heads.map((head) => rotate(head, position, rotation)));
}
