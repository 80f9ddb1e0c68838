// The trial of the ways to compute a kernel: whether their results are those of the plain reference, and
// how long they take.

import { GpuError } from "../../errors.ts";
import type { Trial } from "../../tuning.ts";
import type { Gpu } from "../gpu.ts";
import { timePasses } from "../time_passes.ts";

/** Encodes a kernel once. */
export type Encode = (pass: GPUComputePassEncoder) => void;

/** A kernel with operands on a device. */
export interface Bench {
  /** Names of the ways to compute it, the default one first. */
  readonly ways: readonly string[];
  /** Runs a way on operands with known results. Resolves with what is wrong; undefined if nothing is. */
  check(way: string): Promise<string | undefined>;
  /** The kernel by a way on operands of full size: as many as are needed to exceed the GPU's caches. */
  full(way: string): Encode[];
}

/** The limits for timing one kernel. */
export interface TimeBudget {
  /** About the seconds for which the device works. */
  readonly seconds: number;
  /** Most rounds, in each of which all ways run once. */
  readonly mostRounds: number;
}

/** Fewest rounds for a meaningful median. */
const LEAST_ROUNDS = 3;

/** A way that takes this many times as long as the best one in the first round is not timed again. */
const HOPELESS = 1.5;

/** A way is chosen over the usual one if it takes at most this share of its time. */
const WORTHWHILE = 0.97;

/** Values that may differ in the result of a kernel, in turn. */
export interface Checked {
  readonly actual: ArrayLike<number>;
  readonly expected: ArrayLike<number>;
  /** Greatest absolute error of each. */
  readonly errors: ArrayLike<number>;
}

/** What is wrong with results; undefined if nothing is. */
export function faultIn({ actual, expected, errors }: Checked): string | undefined {
  let wrong = 0;
  for (let i = 0; i < expected.length; i++) {
    // NaN is within no bounds.
    if (!(Math.abs(actual[i]! - expected[i]!) <= errors[i]!)) wrong++;
  }
  return wrong === 0
    ? undefined
    : `${wrong} of ${expected.length} values are not those of the plain reference`;
}

/**
 * Tries the ways to compute a kernel, and times those with right results; undefined if that became
 * unwanted.
 * Errors: GpuError.
 */
export async function tryWays(
  device: Gpu,
  bench: Bench,
  budget: TimeBudget,
  isUnwanted: () => boolean,
): Promise<Trial[] | undefined> {
  const faults = new Map<string, string>();
  for (const way of bench.ways) {
    await nextTask(); // Lets messages arrive that make it unwanted.
    if (isUnwanted()) return undefined;
    const fault = await faultOf(device, bench, way);
    if (fault !== undefined) faults.set(way, fault);
  }
  const right = bench.ways.filter((way) => !faults.has(way));
  const seconds = await device.scoped("time kernels", () => timeWays(device, bench, right, budget));
  return bench.ways.map((name) => {
    const [fault, took] = [faults.get(name), seconds.get(name)];
    return {
      name,
      ...(fault !== undefined && { fault }),
      ...(took !== undefined && { seconds: took }),
    };
  });
}

/** Why a way cannot be chosen. Errors: DeviceLostError, and those of its operands. */
export async function faultOf(device: Gpu, bench: Bench, way: string): Promise<string | undefined> {
  try {
    return await device.scoped(`try ${way}`, () => bench.check(way));
  } catch (error) {
    device.check(); // The loss of the device is not counted as a fault of this way.
    if (error instanceof GpuError) return error.message;
    throw error;
  }
}

/** The way to choose: the fastest, if it is worthwhile. */
export function bestOf(trials: readonly Trial[]): string {
  const [usual] = trials;
  let best: Trial | undefined = usual!.fault === undefined ? usual : undefined;
  let bound = (usual!.seconds ?? Infinity) * WORTHWHILE;
  for (const trial of trials.slice(1)) {
    if (trial.fault !== undefined || trial.seconds === undefined) continue;
    if (best && trial.seconds > bound) continue;
    best = trial;
    bound = trial.seconds;
  }
  // If no way gives right results, the default stays.
  return (best ?? usual!).name;
}

async function timeWays(
  device: Gpu,
  bench: Bench,
  ways: readonly string[],
  { seconds, mostRounds }: TimeBudget,
): Promise<Map<string, number>> {
  const runs = new Map(ways.map((way) => [way, [] as number[]]));
  const encodings = new Map(ways.map((way) => [way, bench.full(way)]));
  // All ways in each round, so that changes of the GPU's clock rate affect all of them.
  const round = async (some: readonly string[]) => {
    const passes = some.map((way) => (pass: unknown) => {
      for (const encode of encodings.get(way)!) encode(pass as GPUComputePassEncoder);
    });
    const { seconds } = await timePasses(device, passes);
    return some.map((way, i) => seconds[i]! / encodings.get(way)!.length);
  };
  if (ways.length === 0) return new Map();
  const first = await round(ways); // which also warms up the memory
  const best = Math.min(...first);
  const hopeful = ways.filter((_, i) => i === 0 || first[i]! <= best * HOPELESS);
  let spent = first.reduce((sum, time) => sum + time, 0);
  for (let done = 0; done < mostRounds && (done < LEAST_ROUNDS || spent < seconds); done++) {
    const times = await round(hopeful);
    hopeful.forEach((way, i) => runs.get(way)!.push(times[i]!));
    spent += times.reduce((sum, time) => sum + time, 0);
  }
  return new Map(ways.map((way, i) => [way, median(runs.get(way)!) ?? first[i]!]));
}

function nextTask(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}

function median(values: readonly number[]): number | undefined {
  return values.toSorted((a, b) => a - b)[values.length >> 1];
}
