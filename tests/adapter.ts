// Tests that need WebGPU: an adapter, which may be a software one.

import { requestAdapter } from "../kernels/webgpu/mod.ts";

/** Whether WebGPU finds an adapter here. */
export const hasAdapter: boolean = await requestAdapter(navigator.gpu) !== undefined;

/** Registers a test of WebGPU, ignored with the reason in its name where there is no adapter. */
export function webGpuTest(name: string, fn: () => void | Promise<void>): void {
  const note = hasAdapter ? "" : " (skipped: no WebGPU adapter; `deno task setup` installs one)";
  Deno.test({ name: name + note, ignore: !hasAdapter, fn });
}
