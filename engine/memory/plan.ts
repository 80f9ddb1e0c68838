// How to load a model so that it fits: as it was asked for, with a cache for one window instead of
// two, and with a smaller window where none was asked for. Decides by estimates; loads nothing.

import { InsufficientMemoryError } from "../errors.ts";
import type { LoadOptions } from "../types.ts";
import { type Estimate, type MemoryEstimate, totalOf } from "./estimate.ts";
import { formatSize } from "./size.ts";

/** The smallest window that a model gets without being asked, in tokens. */
const LEAST_WINDOW = 2048;
/** Windows that nobody asked for are multiples of this. */
const WINDOW_STEP = 1024;

/** A load that fits. */
export interface LoadPlan {
  options: LoadOptions;
  estimate: MemoryEstimate;
  /** What it takes, in bytes. */
  bytes: number;
  /** The window is smaller than what the model would get if there were more memory. */
  isShrunk: boolean;
}

/** What a model has to fit into. */
export interface PlanLimits {
  /** The model's name, for the error. */
  name: string;
  /** In bytes. */
  total: number;
  /** How much that is, for people: "the GPU has 8 GiB". */
  state: string;
}

/**
 * Finds the options nearest to the wanted ones with which a model fits.
 *
 * @throws {InsufficientMemoryError} if there are none
 */
export async function planLoad(
  estimate: Estimate,
  wanted: LoadOptions,
  { name, total, state }: PlanLimits,
): Promise<LoadPlan> {
  const plan = async (changes: LoadOptions, isShrunk = false): Promise<LoadPlan> => {
    const options = { ...wanted, ...changes };
    const result = await estimate(options);
    return { options, estimate: result, bytes: totalOf(result.memory), isShrunk };
  };
  const fits = ({ bytes }: LoadPlan) => bytes <= total;
  const windowOf = (steps: number) =>
    plan({ cacheWindows: 1, contextLength: steps * WINDOW_STEP }, true);

  const full = await plan({});
  if (fits(full)) return full;
  const single = await plan({ cacheWindows: 1 });
  if (fits(single)) return single;
  const window = single.estimate.contextLength;
  if (wanted.contextLength !== undefined || window <= LEAST_WINDOW) {
    throw refusal(name, single, state);
  }
  let best = await windowOf(LEAST_WINDOW / WINDOW_STEP);
  if (!fits(best)) throw refusal(name, best, state);
  // The largest that fits lies between these two, and what a window takes grows with it.
  let [low, high] = [LEAST_WINDOW / WINDOW_STEP, Math.ceil(window / WINDOW_STEP)];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    const candidate = await windowOf(middle);
    if (fits(candidate)) [low, best] = [middle, candidate];
    else high = middle;
  }
  return best;
}

function refusal(name: string, { estimate, bytes }: LoadPlan, state: string): Error {
  const { memory: { weights, keyValueCache, scratch }, contextLength, maxSequences } = estimate;
  const parallel = `${maxSequences} parallel request${maxSequences === 1 ? "" : "s"}`;
  const need = `${formatSize(bytes)} (weights ${formatSize(weights)}, KV cache ` +
    `${formatSize(keyValueCache)} for a window of ${contextLength} tokens and ${parallel}, ` +
    `scratch ${formatSize(scratch)})`;
  return new InsufficientMemoryError(name, need, bytes, state);
}
