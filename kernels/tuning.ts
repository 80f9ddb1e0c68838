// Tuning: finding the fastest way to compute a kernel over a shape on a device by timing. Here are the
// contract of a tuner, and its results as plain data, which can be kept in a file. The device decides
// how it is done.

import type { CacheTypes, HeadShape } from "./ops/kv_cache.ts";

/** A matrix product of some number of tokens. */
export interface ProductCase {
  readonly kernel: "product";
  /** GGML name of the weights' format, such as "Q4_K". */
  readonly format: string;
  /** Rows of each side of the matrix. */
  readonly rows: number;
  readonly columns: number;
  /** 2 for a pair of matrices. */
  readonly sides: 1 | 2;
  /** Whether it reads int8 groups. */
  readonly integer: boolean;
  /** Whether it writes int8 groups. */
  readonly quantized: boolean;
  /** Number of tokens with which it is timed; the choice holds for all numbers of the same class. */
  readonly tokens: number;
}

/** The product of each pair of a token and an expert that was chosen for it, by that expert's matrix. */
export interface ExpertsCase extends Omit<ProductCase, "kernel" | "tokens"> {
  readonly kernel: "experts";
  readonly experts: number;
  /** Number of experts per token. */
  readonly topK: number;
  /** Whether x has a row per pair, not one per token. */
  readonly perPair: boolean;
  /**
   * Average number of pairs that share an expert with which it is timed; the choice holds for all
   * numbers of the same class. One: the pairs of a single token.
   */
  readonly density: number;
  /** Pairs of an expert in a tile. */
  readonly cols: number;
}

/**
 * The number of an expert's pairs in a tile, which all products of a mixture share. It is the one that
 * suits the product with the most weights, which the other members describe.
 */
export interface ExpertPairsCase extends Omit<ExpertsCase, "kernel" | "cols"> {
  readonly kernel: "expert pairs";
}

/** Attention of one decoding sequence. */
export interface AttentionCase extends Readonly<HeadShape>, CacheTypes {
  readonly kernel: "attention";
}

/** A kernel over a shape. */
export type KernelCase = ProductCase | ExpertsCase | ExpertPairsCase | AttentionCase;

/** A way to compute a kernel, and the result of its trial. */
export interface Trial {
  /** Name of the way, such as "4x1, 32 of 64"; the default comes first. */
  readonly name: string;
  /** Median of several runs; missing if it was not timed. */
  readonly seconds?: number;
  /** The reason why it cannot be chosen: it does not compile, or its results are wrong. */
  readonly fault?: string;
}

/** A kernel and the way to compute it that was found to be the fastest. */
export interface TunedKernel {
  readonly of: KernelCase;
  /** Name of the chosen way. */
  readonly chosen: string;
  readonly trials: readonly Trial[];
}

/** Finds the fastest ways, one kernel after the other. */
export interface Tuner {
  /** A text for everything on which times depend: the device, its driver, the source of the kernels. */
  readonly identity: string;
  /** Whether the device tells how long kernels take. Without that they can only be mended. */
  readonly canTime: boolean;
  /** Whether the device is a driver on the CPU, whose ways are best as they are. */
  readonly software: boolean;
  /** Kernels that were bound, for which there is a choice and none was made yet, most work first. */
  pending(): KernelCase[];
  /**
   * Takes over kept choices, each after comparing its results with the plain reference. Ignores choices
   * for kernels that are not bound, unknown ways, and ways with wrong results.
   *
   * @returns the choices that were taken over
   */
  restore(kept: readonly TunedKernel[]): Promise<TunedKernel[]>;
  /**
   * Times the ways to compute a kernel, and chooses the fastest with right results, which bound operations
   * use from their next step on. Nothing else may use the device meanwhile.
   *
   * @param isUnwanted called before each way; if it returns true, the rest is skipped
   * @returns undefined if it was skipped
   * @throws {GpuError} if the device fails, GpuMemoryError if it has no memory for it
   */
  tune(kernel: KernelCase, isUnwanted?: () => boolean): Promise<TunedKernel | undefined>;
  /**
   * Compares the way by which each bound kernel is computed with the plain reference, and chooses the
   * first other one that is right where it is wrong. Nothing else may use the device meanwhile.
   *
   * @returns the kernels for which another way was chosen
   * @throws {GpuError} if the device fails, GpuMemoryError if it has no memory for it
   */
  mend(): Promise<TunedKernel[]>;
}

/** The key of a kernel: two with the same key are the same. */
export function keyOf(kernel: KernelCase): string {
  if (kernel.kernel === "attention") {
    const { heads, kvHeads, headDim, valueDim = headDim, sharedValues = false } = kernel;
    const values = sharedValues ? "shared" : kernel.values;
    return `attention ${heads}/${kvHeads} heads of ${headDim}/${valueDim}, ${kernel.keys}/${values}`;
  }
  const { format, rows, columns, sides, integer, quantized } = kernel;
  const size = `${sides === 2 ? "2x" : ""}${rows}x${columns}`;
  const types = `${integer ? "int8" : "f32"} to ${quantized ? "int8" : "f32"}`;
  if (kernel.kernel === "product") {
    return `product ${format} ${size}, ${types}, ${counted(kernel.tokens, "token")}`;
  }
  const { experts, topK, perPair, density } = kernel;
  const read = `x per ${perPair ? "pair" : "token"}`;
  const tiles = kernel.kernel === "experts" ? ` in tiles of ${kernel.cols}` : "";
  return `${kernel.kernel} ${format} ${topK} of ${experts}, ${size}, ${types}, ${read}, ` +
    `${counted(density, "pair")} each${tiles}`;
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
