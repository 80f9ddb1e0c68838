// `deno task setup`: asks for a WebGPU adapter and installs a software one where there is none, for
// tests of the kernels in WGSL. Nothing else needs it: without a GPU the CPU computes.

import { ensureAdapter } from "./gpu.ts";
import { localHost } from "./host.ts";

export { ensureAdapter, localHost };
export type { Host, Outcome, RunOptions } from "./host.ts";

if (import.meta.main) {
  const host = localHost();
  host.report(`Set-up: ${await ensureAdapter(host)}`);
}
