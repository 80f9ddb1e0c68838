// Measures passes on a GPU: by two timestamps each, or, without timestamps, by the host's clock
// around a submit for each.

import source from "./read_bandwidth.wgsl" with { type: "text" };
import type { PassTimes } from "../device.ts";
import type { Pass } from "../operation.ts";
import type { Gpu } from "./gpu.ts";
import { encodeDispatch } from "./kernel.ts";
import { GpuReadback } from "./readback.ts";

/** Timestamps in a query set: the most that WebGPU allows. */
const MOST_QUERIES = 4096;

/** Bytes of a timestamp. */
const TIMESTAMP = 8;

const QUERY_RESOLVE = 0x200;
const COPY_SRC = 0x4;

/** Empty submits that measure the time to await one. */
const EMPTY_RUNS = 3;

/** Milliseconds of work by which the unit of timestamps is measured. */
const CALIBRATION_MILLISECONDS = 50;

/** Most dispatches of that work. */
const MOST_REPEATS = 2 ** 16;

/**
 * A unit of up to this number of nanoseconds counts as one, because the difference is only waiting
 * time.
 */
const NEAR_ONE = 3;

/** Nanoseconds of the unit of timestamps, for each GPU. */
const units = new WeakMap<GPUDevice, Promise<number>>();

/** Runs passes in order and takes the time of each; see `Device.time`. */
export async function timePasses(
  device: Gpu,
  passes: readonly ((pass: Pass) => void)[],
): Promise<PassTimes> {
  const hostSeconds = new Float64Array(passes.length);
  if (passes.length === 0) return { seconds: hostSeconds, hostSeconds };
  if (!device.capabilities.timestamps) {
    return { seconds: await byClock(device, passes), hostSeconds };
  }
  let unit = units.get(device.gpu);
  if (!unit) units.set(device.gpu, unit = measureUnit(device));
  const nanoseconds = await unit;
  const ticks = await byTimestamps(device, passes);
  return { seconds: ticks.map((count) => count * nanoseconds / 1e9), hostSeconds };
}

/** The resources for timestamps of a number of passes. */
interface Stopwatch {
  readonly passes: number;
  readonly sets: readonly GPUQuerySet[];
  readonly resolved: GPUBuffer;
  readonly readback: GpuReadback;
}

/** Kept between calls, because the first read of a buffer is slow. */
const stopwatches = new WeakMap<Gpu, Stopwatch>();

function stopwatchFor(device: Gpu, passes: number): Stopwatch {
  const kept = stopwatches.get(device);
  if (kept && kept.passes >= passes) return kept;
  for (const set of kept?.sets ?? []) set.destroy();
  if (kept) device.free(kept.resolved);
  kept?.readback.free();
  const sets = Array.from(
    { length: Math.ceil(2 * passes / MOST_QUERIES) },
    () => device.gpu.createQuerySet({ type: "timestamp", count: MOST_QUERIES }),
  );
  const bytes = sets.length * MOST_QUERIES * TIMESTAMP;
  const stopwatch = {
    passes: sets.length * MOST_QUERIES / 2,
    sets,
    resolved: device.buffer("timestamps", bytes, "scratch", QUERY_RESOLVE | COPY_SRC),
    readback: new GpuReadback(device, "timestamps readback", bytes),
  };
  stopwatches.set(device, stopwatch);
  return stopwatch;
}

/** The time of passes between their timestamps, in their unit. One call at a time. */
async function byTimestamps(
  device: Gpu,
  passes: readonly ((pass: Pass) => void)[],
): Promise<Float64Array> {
  const { sets, resolved, readback } = stopwatchFor(device, passes.length);
  const bytes = 2 * passes.length * TIMESTAMP;
  const encoder = device.gpu.createCommandEncoder();
  for (let first = 0; first < passes.length; first += MOST_QUERIES / 2) {
    const some = passes.slice(first, first + MOST_QUERIES / 2);
    const querySet = sets[2 * first / MOST_QUERIES]!;
    some.forEach((encode, i) => {
      const pass = encoder.beginComputePass({
        timestampWrites: {
          querySet,
          beginningOfPassWriteIndex: 2 * i,
          endOfPassWriteIndex: 2 * i + 1,
        },
      });
      encode(pass as Pass);
      pass.end();
    });
    encoder.resolveQuerySet(querySet, 0, 2 * some.length, resolved, 2 * first * TIMESTAMP);
  }
  encoder.copyBufferToBuffer(resolved, 0, readback.buffer, 0, bytes);
  device.gpu.queue.submit([encoder.finish()]);
  const times = new BigInt64Array(await readback.readNow(bytes));
  // A GPU may reset its counter between two timestamps. The time of such a pass is unknown and
  // counts as zero.
  return Float64Array.from(
    passes,
    (_, i) => Math.max(0, Number(times[2 * i + 1]! - times[2 * i]!)),
  );
}

/** The time of passes by the host's clock, less the time of an empty submit. */
async function byClock(
  device: Gpu,
  passes: readonly ((pass: Pass) => void)[],
): Promise<Float64Array> {
  const readback = new GpuReadback(device, "timing readback", 16);
  const milliseconds = async (encode: (pass: Pass) => void) => {
    const started = performance.now();
    const encoder = device.gpu.createCommandEncoder();
    const pass = encoder.beginComputePass();
    encode(pass as Pass);
    pass.end();
    encoder.clearBuffer(readback.buffer);
    device.gpu.queue.submit([encoder.finish()]);
    await readback.readNow(16);
    return performance.now() - started;
  };
  try {
    await milliseconds(() => {}); // waits for earlier submits
    let empty = Infinity;
    for (let i = 0; i < EMPTY_RUNS; i++) empty = Math.min(empty, await milliseconds(() => {}));
    const seconds = new Float64Array(passes.length);
    for (const [i, encode] of passes.entries()) {
      seconds[i] = Math.max(0, await milliseconds(encode) - empty) / 1000;
    }
    return seconds;
  } finally {
    readback.free();
  }
}

/**
 * Nanoseconds of the unit of timestamps. WebGPU says one, but wgpu, and so Deno, returns the GPU's
 * own units, which are tens of nanoseconds on some. So a long piece of work is timed by both
 * clocks.
 */
async function measureUnit(device: Gpu): Promise<number> {
  const [bytes, workgroups, workgroup] = [2 ** 22, 64, 64];
  const x = device.buffer("calibration", bytes, "scratch");
  const sums = device.buffer("sums", workgroups * workgroup * 4, "scratch");
  const kernel = device.kernel({ name: "read bandwidth", source }).bind({ x, sums });
  const time = async (repeats: number) => {
    const started = performance.now();
    const [ticks] = await byTimestamps(device, [(pass) => {
      for (let i = 0; i < repeats; i++) {
        encodeDispatch(pass as GPUComputePassEncoder, kernel, [workgroups]);
      }
    }]);
    return { ticks: ticks!, milliseconds: performance.now() - started };
  };
  try {
    await time(1); // the first run compiles it
    for (let repeats = 1;; repeats *= 4) {
      const { ticks, milliseconds } = await time(repeats);
      if (milliseconds < CALIBRATION_MILLISECONDS && repeats < MOST_REPEATS) continue;
      const unit = milliseconds * 1e6 / Math.max(1, ticks);
      return unit < NEAR_ONE ? 1 : unit;
    }
  } finally {
    device.free(x);
    device.free(sums);
  }
}

// The memory bandwidth that a kernel can reach on a device: a plain sum over a large buffer. It
// bounds the speed of decoding, which reads all weights once per token, but says little about the
// hardware.

/** Bytes that are read, if a binding may be that large: more than caches hold. */
const MOST_BYTES = 128 * 2 ** 20;

const RUNS = 6;

const WORKGROUP = 64;

/** Milliseconds that Deno sleeps after the work is done. */
const SLEEP_MILLISECONDS = 10;

/** Bytes per second in the best of six runs. */
export async function readBandwidth(device: Gpu): Promise<number> {
  const { software } = device.capabilities;
  const workgroups = software ? 64 : 4096;
  const repeats = software ? 1 : 50;
  const bytes = Math.min(device.maxBindingSize, MOST_BYTES);
  const x = device.buffer("bandwidth", bytes, "scratch");
  const sums = device.buffer("sums", workgroups * WORKGROUP * 4, "scratch");
  const kernel = device.kernel({ name: "read bandwidth", source }).bind({ x, sums });
  const tax = device.platform.sleepyMap ? SLEEP_MILLISECONDS : 0;
  let best = Infinity;
  for (let run = 0; run < RUNS; run++) {
    const started = performance.now();
    const encoder = device.gpu.createCommandEncoder();
    const pass = encoder.beginComputePass();
    for (let i = 0; i < repeats; i++) encodeDispatch(pass, kernel, [workgroups]);
    pass.end();
    device.gpu.queue.submit([encoder.finish()]);
    await device.gpu.queue.onSubmittedWorkDone();
    best = Math.min(best, (performance.now() - started - tax) / repeats);
  }
  device.free(x);
  device.free(sums);
  device.check();
  return bytes / best * 1000;
}
