// Chooses load options with which a model fits: first the wanted ones, then less of a prompt in a step
// where a large GPU would take more than usual, then a KV cache for one window instead of two, then a
// smaller window if the user set none. If a GPU is too small even for that, the CPU takes a part: the
// experts of a mixture first, then layers. It decides by estimates and loads nothing.

import { InsufficientMemoryError } from "../errors.ts";
import { type Layout, USUAL_CHUNK } from "../load/mod.ts";
import type { LoadOptions } from "../types/mod.ts";
import { type Estimate, formatSize, type MemoryEstimate, totalOf } from "./estimate.ts";

/** Smallest window that a model gets automatically, in tokens. */
const LEAST_WINDOW = 2048;
/** Automatic windows are multiples of this, in tokens. */
const WINDOW_STEP = 1024;
/**
 * Automatic window of a split model, in tokens. A larger one would push more layers off the GPU.
 */
const SPLIT_WINDOW = 4096;

/** A load that fits. */
export interface FittedLoad {
  options: LoadOptions;
  estimate: MemoryEstimate;
  /** Bytes that it takes of the device that models are on. */
  bytes: number;
  /** Bytes that it takes of the system's memory beside a GPU. */
  systemBytes: number;
  /** Whether the window is smaller than it would be with more memory. */
  isShrunk: boolean;
}

/** The memory that a model has to fit into. */
export interface FitLimits {
  /** Bytes of the device that models are on. */
  name: string;
  /** The limit for people: "the GPU has 8 GiB". */
  total: number;
  /** The system's memory for what is not on the GPU; missing if models are on one device alone. */
  state: string;
  /** Bytes of the system for what is not on the GPU; missing if models are on one device alone. */
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
  let chunk: LoadOptions = {};
  const estimateWith = (changes: LoadOptions, isShrunk = false) => {
    const isOnCpu = changes.gpuLayers === 0; // which reads less of a prompt at a time by itself
    const options = { ...wanted, ...(isOnCpu ? {} : chunk), ...changes };
    return estimateLoad(estimate, options, limits, isShrunk);
  };
  const fits = (candidate: FittedLoad) => fitsInto(candidate, limits);

  const full = await estimateWith({});
  if (fits(full)) return full;
  if (wanted.prefillChunk === undefined && (full.estimate.chunkSize ?? 0) > USUAL_CHUNK) {
    chunk = { prefillChunk: USUAL_CHUNK };
    const narrow = await estimateWith({});
    if (fits(narrow)) return narrow;
  }
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

/**
 * The load with as much on the GPU as fits there. The rest may not fit into the system's memory.
 */
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

/**
 * The load with the largest number from `low` to below `high` that fits; undefined if none fits.
 */
async function largestFitting(
  [low, high]: [low: number, high: number],
  estimateWith: (number: number) => Promise<FittedLoad>,
  fits: (fitted: FittedLoad) => boolean,
): Promise<FittedLoad | undefined> {
  let best = await estimateWith(low);
  if (!fits(best)) return undefined;
  // Binary search: the memory of a load grows with the number.
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

function fitsInto(
  { bytes, systemBytes, estimate }: FittedLoad,
  { total, system }: FitLimits,
): boolean {
  return bytes <= total && systemBytes <= (system?.total ?? Infinity) &&
    hasWorkingMemory(estimate);
}

function hasWorkingMemory({ working }: MemoryEstimate): boolean {
  return !working || working.taken <= working.most;
}

function refusal(
  { estimate, options, bytes, systemBytes }: FittedLoad,
  { name, state, system }: FitLimits,
): Error {
  const { memory: { weights, keyValueCache, scratch }, contextLength, maxSequences } = estimate;
  const { working } = estimate;
  const parallel = maxSequences === undefined
    ? ""
    : ` and ${maxSequences} parallel request${maxSequences === 1 ? "" : "s"}`;
  const where = system && estimate.layout
    ? `, ${formatSize(bytes)} of it on the GPU with ` +
      `${layersNamed(options, estimate.layout)} there, and ${formatSize(systemBytes)} on the CPU`
    : "";
  const need = `${formatSize(bytes + systemBytes)} (weights ${formatSize(weights)}, KV cache ` +
    `${formatSize(keyValueCache)} for a window of ${contextLength} tokens${parallel}, ` +
    `scratch ${formatSize(scratch)}${where})`;
  const states = working && !hasWorkingMemory(estimate)
    ? `of that, ${formatSize(working.taken)} are working memory on the CPU, which ends at ` +
      `${formatSize(working.most)}: ` +
      `${parallel === "" ? "a smaller window takes" : "fewer parallel requests take"} less`
    : where === ""
    ? state
    : `${state}, and ${system!.state}`;
  return new InsufficientMemoryError(name, need, bytes + systemBytes, states);
}

function layersNamed({ gpuLayers = -1 }: LoadOptions, { layers }: Layout): string {
  return `${gpuLayers < 0 ? layers : Math.min(gpuLayers, layers)} of ${layers} layers`;
}
