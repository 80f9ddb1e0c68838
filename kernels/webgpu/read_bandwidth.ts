// The memory bandwidth that a kernel can reach on a device: a plain sum over a large buffer. It
// bounds the speed of decoding, which reads all weights once per token, but says little about the
// hardware.

import source from "./read_bandwidth.wgsl" with { type: "text" };
import type { Gpu } from "./gpu.ts";
import { encodeDispatch } from "./kernel.ts";

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
