// The memory bandwidth that a kernel can reach on this device: a plain sum over a large buffer.
// The yardstick of bench/mod.ts; no statement about the hardware's own limit.

import { type Device, encodeDispatch } from "../kernels/mod.ts";

const SUM = `
@group(0) @binding(0) var<storage, read> x: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read_write> y: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) workgroups: vec3<u32>) {
  var sum = vec4(0u);
  let stride = workgroups.x * 64u;
  for (var i = id.x; i < arrayLength(&x); i += 4u * stride) {
    sum += x[i] + x[i + stride] + x[i + 2u * stride] + x[i + 3u * stride];
  }
  y[id.x] = sum.x + sum.y + sum.z + sum.w;
}`;

/** Bytes per second read by the best of five runs over the largest binding, at most 128 MiB. */
export async function readBandwidth(device: Device): Promise<number> {
  const bytes = Math.min(device.maxBindingSize, 128 * 2 ** 20);
  const workgroups = device.capabilities.software ? 64 : 4096;
  const x = device.buffer("bandwidth", bytes, "bench");
  const y = device.buffer("sums", workgroups * 64 * 4, "bench");
  const kernel = device.kernel({ name: "sum", source: SUM }).bind({ x, y });
  const repeats = device.capabilities.software ? 1 : 50;
  let best = Infinity;
  for (let run = 0; run < 6; run++) {
    const started = performance.now();
    const encoder = device.gpu.createCommandEncoder();
    const pass = encoder.beginComputePass();
    for (let i = 0; i < repeats; i++) encodeDispatch(pass, kernel, [workgroups]);
    pass.end();
    device.gpu.queue.submit([encoder.finish()]);
    await device.gpu.queue.onSubmittedWorkDone();
    // Deno sleeps 10 ms after the work is done.
    const tax = device.platform.sleepyMap ? 10 : 0;
    best = Math.min(best, (performance.now() - started - tax) / repeats);
  }
  return bytes / best * 1000;
}
