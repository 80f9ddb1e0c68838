// Finds the fastest ways to compute the kernels that models have bound on a GPU: checks the ways that
// candidates.ts gives, and times them by timestamps, where there are any.

import type { KernelCase, Trial, TunedKernel, Tuner } from "../../tuning.ts";
import type { Gpu } from "../gpu.ts";
import { driverIdentity, identityOf } from "../identity.ts";
import { tileName } from "../tile.ts";
import { AttentionBench } from "./attention_bench.ts";
import { attentionWays, expertWays, productTiles } from "../candidates.ts";
import { ExpertsBench } from "./experts_bench.ts";
import { ProductBench, productFault } from "./product_bench.ts";
import { formatOf } from "./random_matrix.ts";
import { type Bench, bestOf, faultOf, tryWays } from "./trial.ts";

/** The limits for timing the ways of one kernel: a few hundred runs for most kernels. */
const BUDGET = { seconds: 0.05, mostRounds: 20 };

/** Weights of the classes of token counts: most of what is computed is decoding. */
const USES: Record<number, number> = { 1: 16, 256: 64 };

/** Pairs that share an expert while prompts are read. Fewer are rarer, and less work. */
const PROMPT_DENSITY = 16;

/** Bytes of a layer's cache that attention reads, by which it is ranked among the kernels. */
const USUAL_CONTEXT = 2048;

export class GpuTuner implements Tuner {
  readonly identity: string;
  readonly software: boolean;
  readonly canTime: boolean;
  readonly #device: Gpu;
  /** Empty if the system does not tell. */
  readonly #driver: string;

  constructor(device: Gpu) {
    this.#device = device;
    this.#driver = driverIdentity();
    this.identity = identityOf(device.profile, this.#driver);
    this.software = device.capabilities.software;
    this.canTime = device.capabilities.timestamps;
  }

  pending(): KernelCase[] {
    const { choices } = this.#device;
    return choices.bound()
      .filter(({ kernel }) =>
        choices.chosen(kernel) === undefined && this.#fault(kernel) === undefined &&
        waysOf(this.#device, kernel).length > 1
      )
      .sort((a, b) => b.count * weightOf(b.kernel) - a.count * weightOf(a.kernel))
      .map(({ kernel }) => kernel);
  }

  async restore(kept: readonly TunedKernel[]): Promise<TunedKernel[]> {
    const { choices } = this.#device;
    const taken: TunedKernel[] = [];
    for (const tuned of kept) {
      const { of: kernel, chosen } = tuned;
      if (!choices.isBound(kernel) || this.#fault(kernel) !== undefined) continue;
      using device = this.#device.share();
      if (!waysOf(device, kernel).includes(chosen)) continue;
      // Kernels that were compared under the same driver are not compared again.
      const isKnown = this.#driver !== "";
      if (!isKnown && await faultOf(device, benchOf(device, kernel), chosen) !== undefined) {
        continue;
      }
      choices.choose(kernel, chosen);
      taken.push(tuned);
    }
    return taken;
  }

  async tune(
    kernel: KernelCase,
    isUnwanted: () => boolean = () => false,
  ): Promise<TunedKernel | undefined> {
    using device = this.#device.share();
    const trials = await tryWays(device, benchOf(device, kernel), BUDGET, isUnwanted);
    if (!trials) return undefined;
    const chosen = bestOf(trials);
    this.#device.choices.choose(kernel, chosen);
    return { of: kernel, chosen, trials };
  }

  async mend(): Promise<TunedKernel[]> {
    const { choices } = this.#device;
    const mended: TunedKernel[] = [];
    for (const { kernel } of choices.bound()) {
      if (this.#fault(kernel) !== undefined) continue;
      using device = this.#device.share();
      const [usual, ...others] = waysOf(device, kernel);
      const now = choices.chosen(kernel) ?? usual!;
      const bench = benchOf(device, kernel);
      const trials: Trial[] = [];
      for (const name of new Set([now, usual!, ...others])) {
        const fault = await faultOf(device, bench, name);
        trials.push({ name, ...(fault !== undefined && { fault }) });
        if (fault === undefined) break;
      }
      const { name: chosen, fault } = trials.at(-1)!;
      if (fault !== undefined || chosen === now) continue;
      choices.choose(kernel, chosen);
      mended.push({ of: kernel, chosen, trials });
    }
    return mended;
  }

  #fault(kernel: KernelCase): string | undefined {
    return kernel.kernel === "attention" ? undefined : productFault(kernel);
  }
}

/** Names of the ways to compute a kernel. Errors: GpuError if there is none. */
function waysOf({ profile }: Gpu, kernel: KernelCase): string[] {
  switch (kernel.kernel) {
    case "product":
      return productTiles(profile, kernel).map(tileName);
    case "experts":
    case "expert pairs":
      return [...expertWays(profile, kernel).keys()];
    case "attention":
      return attentionWays(profile, kernel).map(({ name }) => name);
  }
}

/** A kernel with operands. Errors: GpuError if the device has no way to compute it. */
export function benchOf(device: Gpu, kernel: KernelCase): Bench {
  switch (kernel.kernel) {
    case "product":
      return new ProductBench(device, kernel);
    case "experts":
    case "expert pairs":
      return new ExpertsBench(device, kernel);
    case "attention":
      return new AttentionBench(device, kernel);
  }
}

/** The importance of a kernel: the bytes that it reads, times the number of its runs. */
function weightOf(kernel: KernelCase): number {
  if (kernel.kernel === "attention") {
    const { kvHeads, headDim, valueDim = headDim } = kernel;
    return USES[1]! * USUAL_CONTEXT * kvHeads * (headDim + valueDim) * 2;
  }
  const { format: name, rows, columns, sides } = kernel;
  const { blockBytes, blockSize } = formatOf(name)!;
  const matrixBytes = sides * rows * columns / blockSize * blockBytes;
  if (kernel.kernel === "product") return (USES[kernel.tokens] ?? 1) * matrixBytes;
  const { density, topK, experts } = kernel;
  const uses = density === 1 ? USES[1]! * topK : experts * density / PROMPT_DENSITY;
  // The number of pairs in a tile comes before the tiles of products, which depend on it.
  return (kernel.kernel === "expert pairs" ? 2 : 1) * uses * matrixBytes;
}
