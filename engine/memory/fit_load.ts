// How to load a model so that it fits: as it was asked for, with a cache for one window instead of
// two, and with a smaller window where none was asked for. Where a GPU has no room even for that, the
// CPU beside it takes what is left: of a mixture the experts first, and then layers.
// Decides by estimates; loads nothing.

import { InsufficientMemoryError } from "../errors.ts";
import type { Layout } from "../load/mod.ts";
import type { LoadOptions } from "../types.ts";
import { type Estimate, formatSize, type MemoryEstimate, totalOf } from "./estimate.ts";

/** The smallest window that a model gets without being asked, in tokens. */
const LEAST_WINDOW = 2048;
/** Windows that nobody asked for are multiples of this. */
const WINDOW_STEP = 1024;
/** The window of a split model where none was asked for: that of a larger one takes layers' memory. */
const SPLIT_WINDOW = 4096;

/** A load that fits. */
export interface FittedLoad {
  options: LoadOptions;
  estimate: MemoryEstimate;
  /** What it takes of the device that models are on, in bytes. */
  bytes: number;
  /** What it takes of the system's memory beside a GPU, in bytes. */
  systemBytes: number;
  /** The window is smaller than what the model would get if there were more memory. */
  isShrunk: boolean;
}

/** The memory that a model has to fit into. */
export interface FitLimits {
  /** The model's name, for the error. */
  name: string;
  /** Of the device that models are on, in bytes. */
  total: number;
  /** How much that is, for people: "the GPU has 8 GiB". */
  state: string;
  /** Of the system, for what is not on the GPU; missing where models are on one device alone. */
  system?: {
    total: number;
    state: string;
    /** Whether layers are faster on the GPU than on the CPU. Default: they are. */
    isGpuFaster?: () => Promise<boolean>;
  };
}

/**
 * Finds the options nearest to the wanted ones with which a model fits.
 *
 * @throws {InsufficientMemoryError} if there are none
 */
export async function fitLoad(
  estimate: Estimate,
  wanted: LoadOptions,
  limits: FitLimits,
): Promise<FittedLoad> {
  const estimateWith = (changes: LoadOptions, isShrunk = false) =>
    estimateLoad(estimate, { ...wanted, ...changes }, limits, isShrunk);
  const fits = (candidate: FittedLoad) => fitsInto(candidate, limits);

  const full = await estimateWith({});
  if (fits(full)) return full;
  const single = await estimateWith({ cacheWindows: 1 });
  if (fits(single)) return single;
  const window = single.estimate.contextLength;
  const canShrink = wanted.contextLength === undefined && window > LEAST_WINDOW;
  const shrunk = canShrink && await largestFitting(
    [LEAST_WINDOW / WINDOW_STEP, Math.ceil(window / WINDOW_STEP)],
    (steps) => estimateWith({ cacheWindows: 1, contextLength: steps * WINDOW_STEP }, true),
    fits,
  );
  if (shrunk) return shrunk;
  const smallest = canShrink
    ? await estimateWith({ cacheWindows: 1, contextLength: LEAST_WINDOW }, true)
    : single;
  if (!limits.system) throw refusal(smallest, limits);
  const splitWindow = canShrink ? { contextLength: Math.min(window, SPLIT_WINDOW) } : {};
  const isShrunk = canShrink && window > SPLIT_WINDOW;
  const split = await fitSplit(
    (split) => estimateWith({ cacheWindows: 1, ...splitWindow, ...split }, isShrunk),
    smallest.estimate.layout,
    { wanted: wanted.gpuLayers ?? -1, system: limits.system, total: limits.total },
  );
  if (!split || !fits(split)) throw refusal(split ?? smallest, limits);
  return split;
}

/** The load of a split with as much on the GPU as fits there; it may not fit into the system. */
async function fitSplit(
  estimateWith: (split: LoadOptions) => Promise<FittedLoad>,
  layout: Layout | undefined,
  { wanted, system, total }: {
    wanted: number;
    system: NonNullable<FitLimits["system"]>;
    total: number;
  },
): Promise<FittedLoad | undefined> {
  if (!layout) return undefined;
  const { layers, expertLayers } = layout;
  const fitsGpu = ({ bytes }: FittedLoad) => bytes <= total;
  const isAuto = wanted < 0;
  if (isAuto && !(await system.isGpuFaster?.() ?? true)) {
    const onCpu = await estimateWith({ gpuLayers: 0 });
    if (onCpu.systemBytes <= system.total) return onCpu;
  }
  if (expertLayers > 0) {
    const gpuLayers = isAuto ? layers : wanted;
    const split = await largestFitting(
      [0, layers - 1],
      (gpuExpertLayers) => estimateWith({ gpuLayers, gpuExpertLayers }),
      fitsGpu,
    );
    if (split) return split;
  }
  if (!isAuto) return await estimateWith({ gpuLayers: wanted });
  const behind = expertLayers > 0 ? { gpuExpertLayers: 0 } : {};
  return await largestFitting(
    [0, layers],
    (gpuLayers) => estimateWith({ gpuLayers, ...behind }),
    fitsGpu,
  );
}

/** The load of the largest number from `low` to below `high` that fits; undefined if none does. */
async function largestFitting(
  [low, high]: [low: number, high: number],
  estimateWith: (number: number) => Promise<FittedLoad>,
  fits: (fitted: FittedLoad) => boolean,
): Promise<FittedLoad | undefined> {
  let best = await estimateWith(low);
  if (!fits(best)) return undefined;
  // The memory of a load grows with its number.
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    const candidate = await estimateWith(middle);
    if (fits(candidate)) [low, best] = [middle, candidate];
    else high = middle;
  }
  return best;
}

async function estimateLoad(
  estimate: Estimate,
  options: LoadOptions,
  { system }: FitLimits,
  isShrunk: boolean,
): Promise<FittedLoad> {
  const result = await estimate(options);
  const systemBytes = system ? result.memory.onCpu ?? 0 : 0;
  const bytes = totalOf(result.memory) - systemBytes;
  return { options, estimate: result, bytes, systemBytes, isShrunk };
}

function fitsInto({ bytes, systemBytes }: FittedLoad, { total, system }: FitLimits): boolean {
  return bytes <= total && systemBytes <= (system?.total ?? Infinity);
}

function refusal(
  { estimate, options, bytes, systemBytes }: FittedLoad,
  { name, state, system }: FitLimits,
): Error {
  const { memory: { weights, keyValueCache, scratch }, contextLength, maxSequences } = estimate;
  const parallel = `${maxSequences} parallel request${maxSequences === 1 ? "" : "s"}`;
  const where = system && estimate.layout
    ? `, ${formatSize(bytes)} of it on the GPU with ` +
      `${layersNamed(options, estimate.layout)} there, and ${formatSize(systemBytes)} on the CPU`
    : "";
  const need = `${formatSize(bytes + systemBytes)} (weights ${formatSize(weights)}, KV cache ` +
    `${formatSize(keyValueCache)} for a window of ${contextLength} tokens and ${parallel}, ` +
    `scratch ${formatSize(scratch)}${where})`;
  const states = where === "" ? state : `${state}, and ${system!.state}`;
  return new InsufficientMemoryError(name, need, bytes + systemBytes, states);
}

function layersNamed({ gpuLayers = -1 }: LoadOptions, { layers }: Layout): string {
  return `${gpuLayers < 0 ? layers : Math.min(gpuLayers, layers)} of ${layers} layers`;
}
