// Random weights in the block formats of GGML, as fast as a disk takes them: random bits serve as
// codes, and only the scales of a block are computed. They decode to weights with the mean and the
// deviation asked for; block layouts as in ggml-common.h.

import { tensorTypeByName } from "../engine/gguf/mod.ts";

/** The distribution of the weights. */
export interface Distribution {
  /** Of float types. Weights of block formats have mean 0. */
  readonly mean: number;
  readonly deviation: number;
  readonly seed: number;
}

/** An f16 within a block: its byte, and its value for weights of deviation 1. */
type Scale = readonly [byte: number, value: number];

// Reciprocals of the deviation of codes whose bits are all random. A minimum is the mean of the
// codes, from which it is subtracted, in their units.
const SCALES: Readonly<Record<string, readonly Scale[]>> = {
  Q4_0: [[0, 1 / 4.64]],
  Q4_1: [[0, 1 / 4.61], [2, -7.5 / 4.61]],
  Q5_0: [[0, 1 / 9.25]],
  Q5_1: [[0, 1 / 9.23], [2, -15.5 / 9.23]],
  Q8_0: [[0, 1 / 73.9]],
  Q2_K: [[80, 1 / 13.9], [82, 1.5 / 13.9]],
  Q3_K: [[108, 1 / 43.3]],
  Q4_K: [[0, 1 / 258], [2, 7.5 / 258]],
  Q5_K: [[0, 1 / 527], [2, 15.5 / 527]],
  Q6_K: [[208, 1 / 1366]],
  IQ2_XXS: [[0, 1 / 53.4]],
  IQ2_XS: [[0, 1 / 55.9]],
  IQ3_XXS: [[0, 1 / 142.5]],
  IQ1_S: [[0, 1 / 7.19]],
  IQ4_NL: [[0, 1 / 67.4]],
  IQ3_S: [[0, 1 / 140.2]],
  IQ2_S: [[0, 1 / 56.5]],
  IQ4_XS: [[0, 1 / 1247]],
  TQ1_0: [[52, 1 / 0.817]],
  TQ2_0: [[64, 1 / 1.225]],
  Q1_0: [[0, 1]],
  Q2_0: [[0, 1 / 1.225]],
};

const PIECE_BYTES = 4 << 20;

/**
 * Random weights in pieces that are valid until the next one is asked for.
 * @param type GGML type, a float or a block format of the table above
 * @throws RangeError for any other type
 */
export function* randomWeights(
  type: string,
  values: number,
  distribution: Distribution,
): Generator<Uint8Array> {
  const tensorType = tensorTypeByName(type);
  const fill = fillFunction(type, distribution);
  if (tensorType === undefined || fill === undefined) {
    throw new RangeError(`Cannot make random weights: type ${type} is not supported`);
  }
  const { blockSize, blockBytes } = tensorType;
  const total = values / blockSize * blockBytes;
  const pieceBytes = Math.min(total, PIECE_BYTES - PIECE_BYTES % blockBytes);
  const words = new Uint32Array(Math.ceil(pieceBytes / 4));
  const random = new Random(distribution.seed);
  for (let done = 0; done < total; done += pieceBytes) {
    const piece = new Uint8Array(words.buffer, 0, Math.min(pieceBytes, total - done));
    fill(piece, random);
    yield piece;
  }
}

type Fill = (piece: Uint8Array<ArrayBuffer>, random: Random) => void;

function fillFunction(type: string, distribution: Distribution): Fill | undefined {
  switch (type) {
    case "F32":
      return (piece, random) => {
        random.fillFloats(new Float32Array(piece.buffer, 0, piece.length / 4), distribution);
      };
    case "F16":
      return (piece, random) => {
        random.fillFloats(new Float16Array(piece.buffer, 0, piece.length / 2), distribution);
      };
    case "BF16":
      return (piece, random) => {
        const floats = new Float32Array(piece.length / 2);
        random.fillFloats(floats, distribution);
        const bits = new Uint32Array(floats.buffer);
        new Uint16Array(piece.buffer, 0, bits.length).set(bits.map((word) => word >>> 16));
      };
    default: {
      const scales = SCALES[type];
      const { blockBytes = 1 } = tensorTypeByName(type) ?? {};
      return scales && ((piece, random) => {
        random.fillBits(new Uint32Array(piece.buffer));
        setScales(piece, blockBytes, scales, distribution.deviation);
      });
    }
  }
}

/**
 * Gives every block its scales. They differ by factors of 0.7 to 1.3, so that a kernel which
 * confuses blocks is seen, and in sign, which cancels the mean of codes such as -8 to 7.
 */
function setScales(
  piece: Uint8Array<ArrayBuffer>,
  blockBytes: number,
  scales: readonly Scale[],
  deviation: number,
): void {
  const view = new DataView(piece.buffer);
  for (const [byte, value] of scales) {
    const variants = Float16Array.from({ length: 16 }, (_, index) => {
      const sign = index % 2 === 0 ? 1 : -1;
      return value * deviation * sign * (0.7 + 0.04 * index);
    });
    const bits = new Uint16Array(variants.buffer);
    for (let block = 0; block < piece.length; block += blockBytes) {
      const index = block / blockBytes;
      view.setUint16(block + byte, bits[(index * 7 + (index >> 4)) & 15], true);
    }
  }
}

/** Marsaglia's xorshift32: of poor quality, but a gigabyte per second. */
class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = (seed | 0) || 1;
    // A state with few bits set gives several words with few bits set.
    this.fillBits(new Uint32Array(16));
  }

  fillBits(words: Uint32Array): void {
    let state = this.#state;
    for (let index = 0; index < words.length; index++) {
      state ^= state << 13;
      state ^= state >>> 17;
      state ^= state << 5;
      words[index] = state;
    }
    this.#state = state;
  }

  /** Evenly distributed numbers. */
  fillFloats(floats: Float32Array | Float16Array, { mean, deviation }: Distribution): void {
    const words = new Uint32Array(floats.length);
    this.fillBits(words);
    const width = Math.sqrt(12) * deviation;
    for (let index = 0; index < words.length; index++) {
      floats[index] = mean + width * (words[index] / 2 ** 32 - 0.5);
    }
  }
}
