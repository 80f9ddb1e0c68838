// The speed of decoding that GPUs should reach: from the bytes that a token reads, the instructions
// that RADV counts for 32 weights, the dispatches of a token, and the makers' figures. Prints a
// table of ranges: each quantity that is not known is a range itself, named below.

/** A GPU, by its maker's figures. */
interface Hardware {
  readonly name: string;
  /** Bytes per second, published. */
  readonly bandwidth: number;
  /** Invocations times clock: instructions of all lanes per second. */
  readonly lanes: number;
  /** Whether it has products of four int8 at once. */
  readonly packedDot: boolean;
}

/** A model, by what a token reads. */
interface ModelWork {
  readonly name: string;
  /** Bytes of weights that a token reads. */
  readonly bytes: number;
  readonly weights: number;
  /** Dispatches of a token. */
  readonly dispatches: number;
  /** Instructions for 32 weights, in int8 and in f32: means of RADV's navi31 and navi10. */
  readonly instructions: readonly [packed: number, floats: number];
}

/** From least to most favourable. */
type Range = readonly [worst: number, best: number];

const HARDWARE: readonly Hardware[] = [
  { name: "RTX 4070", bandwidth: 504e9, lanes: 46 * 128 * 2.48e9, packedDot: true },
  { name: "RX 7900 XTX", bandwidth: 960e9, lanes: 96 * 64 * 2.3e9, packedDot: true },
  { name: "M3 Max, 40 cores", bandwidth: 400e9, lanes: 40 * 128 * 1.4e9, packedDot: false },
  { name: "Arc of a Core Ultra 7", bandwidth: 90e9, lanes: 128 * 8 * 2.25e9, packedDot: true },
];

const MODELS: readonly ModelWork[] = [
  {
    name: "8B Q4_K_M",
    bytes: 4.69e9,
    weights: 7.5e9,
    dispatches: 229,
    instructions: [56, 118],
  },
  {
    name: "0.6B Q8_0",
    bytes: 0.634e9,
    weights: 0.596e9,
    dispatches: 200,
    instructions: [27, 84],
  },
];

/** Share of the published bandwidth that plain reads reach, by published measurements. */
const READABLE: Range = [0.8, 0.93];

/** Fraction of all lanes' instructions that are issued. The rest are waits and idle lanes. */
const ISSUED: Range = [0.4, 0.8];

/** Seconds between a dispatch and the next one that waits for it. */
const BETWEEN: Range = [6e-6, 2e-6];

/**
 * Fraction of the instructions that is hidden behind reading, because some waves compute while
 * others read.
 */
const HIDDEN: Range = [0.5, 1];

/** Tokens per second, and the share of the published bandwidth that this is. */
function predict(gpu: Hardware, model: ModelWork, at: 0 | 1): [tokens: number, share: number] {
  const reading = model.bytes / (gpu.bandwidth * READABLE[at]);
  const arithmetic = gpu.packedDot ? 0 : 1;
  const perGroup = model.instructions[arithmetic];
  const computing = model.weights / 32 * perGroup / (gpu.lanes * ISSUED[at]);
  const longer = Math.max(reading, computing) + (1 - HIDDEN[at]) * Math.min(reading, computing);
  const tokens = 1 / (longer + model.dispatches * BETWEEN[at]);
  return [tokens, tokens * model.bytes / gpu.bandwidth];
}

/** Rows of the table: GPU, model, tokens per second, share of the bandwidth. */
export function roofline(): string[][] {
  return HARDWARE.flatMap((gpu) =>
    MODELS.map((model) => {
      const [worst, best] = [predict(gpu, model, 0), predict(gpu, model, 1)];
      const range = (i: 0 | 1, factor: number) =>
        `${(factor * worst[i]).toFixed(0)} to ${(factor * best[i]).toFixed(0)}`;
      return [gpu.name, model.name, range(0, 1), `${range(1, 100)} %`];
    })
  );
}
