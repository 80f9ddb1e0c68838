// Tunes the device of this machine anew, without a model: the kernels of all models that were loaded on it.

import {
  type Capabilities,
  chooseDevice,
  type DeviceOptions,
  type KernelCase,
  keyOf,
  openDevice,
  type ProductCase,
  type TunedKernel,
  typesOf,
} from "../../kernels/mod.ts";
import { TuningFile, type TuningOptions } from "./tuning_file.ts";

/** How the device of this machine was tuned. */
export interface DeviceTuning {
  /** Name of the device, for people. */
  readonly description: string;
  /** Why nothing was tuned; missing where something was. */
  readonly reason?: string;
  /** Whether the kernels are those of well-known models, because no model was loaded here before. */
  readonly isUsual: boolean;
  readonly kernels: readonly TunedKernel[];
}

/**
 * Tunes the kernels that its file names again, or if there are none those of well-known models, and
 * keeps what it finds for models that are loaded later.
 *
 * @param onKernel told of each kernel once it is tuned
 * @throws {GpuError} if the device fails
 */
export async function tuneDevice(
  options: Pick<TuningOptions, "folder" | "warn"> & { device?: DeviceOptions },
  onKernel: (tuned: TunedKernel, done: number, all: number) => void = () => {},
): Promise<DeviceTuning> {
  const { kind } = await chooseDevice(options.device);
  using device = await openDevice({ ...options.device, kind });
  const { profile: { description, capabilities }, tuner } = device;
  const nothing = { description, isUsual: false, kernels: [] };
  if (!tuner?.canTime) {
    const reason = kind === "cpu"
      ? "models run on the CPU, whose kernels have no choices"
      : "the GPU tells no time of kernels (timestamp-query), so they are chosen by a table";
    return { ...nothing, reason };
  }
  const file = new TuningFile(tuner.identity, options);
  const { kernels: kept } = await file.read();
  const isUsual = kept.length === 0;
  const all = isUsual ? usualKernels(capabilities) : kept.map(({ of }) => of);
  const kernels: TunedKernel[] = [];
  for (const kernel of all) {
    await file.change((contents) => contents.trying = keyOf(kernel));
    const tuned = await tuner.tune(kernel);
    if (!tuned) continue;
    await file.add(tuned);
    kernels.push(tuned);
    onKernel(tuned, kernels.length, all.length);
  }
  return { description, isUsual, kernels };
}

// The kernels of well-known models, for a device that is tuned before any model was loaded on it.

/** Numbers of tokens of decoding, of a batch, and of a prompt. */
const TOKENS = [1, 8, 256];

/** A model's layers: of 8B as Llama 3 has them, and of 0.6B as Qwen 3. */
const MODELS = [
  { format: "Q4_K", width: 4096, inner: 14336, heads: 32, kvHeads: 8, headDim: 128 },
  { format: "Q8_0", width: 1024, inner: 3072, heads: 16, kvHeads: 8, headDim: 128 },
];

/** Pairs that share an expert in a prompt. */
const PROMPT_DENSITY = 16;

/** The experts of a layer of Qwen 3 30B-A3B, whose other products are not among the above. */
const EXPERTS = { experts: 128, topK: 8, format: "Q4_K", width: 2048, inner: 768 };

/** Their products and attention, as a device with these capabilities computes them. */
function usualKernels({ packedDot: integer }: Capabilities): KernelCase[] {
  const dense = MODELS.flatMap(
    ({ format, width, inner, heads, kvHeads, headDim }): KernelCase[] => {
      const attended = heads * headDim;
      const products: Omit<ProductCase, "kernel" | "tokens" | "format" | "integer">[] = [
        { rows: attended + 2 * kvHeads * headDim, columns: width, sides: 1, quantized: false },
        { rows: width, columns: attended, sides: 1, quantized: false },
        { rows: inner, columns: width, sides: 2, quantized: integer },
        { rows: width, columns: inner, sides: 1, quantized: false },
      ];
      return [
        ...products.flatMap((product) =>
          TOKENS.map((tokens) =>
            ({ kernel: "product", format, integer, tokens, ...product }) as const
          )
        ),
        { kernel: "attention", heads, kvHeads, headDim, ...typesOf("f16") },
      ];
    },
  );
  return [...dense, ...usualExperts(integer)];
}

function usualExperts(integer: boolean): KernelCase[] {
  const { width, inner, ...rest } = EXPERTS;
  const gated = {
    rows: inner,
    columns: width,
    sides: 2,
    quantized: integer,
    perPair: false,
  } as const;
  const down = { rows: width, columns: inner, sides: 1, quantized: false, perPair: true } as const;
  return [
    ...[gated, down].map((product) =>
      ({ kernel: "experts", ...rest, ...product, integer, density: 1, cols: 1 }) as const
    ),
    { kernel: "expert pairs", ...rest, ...gated, integer, density: PROMPT_DENSITY },
  ];
}
