// The set-up that `deno task serve` and `deno task test` run first: `deno run -A server/cli/setup/mod.ts`.
// It asks for a WebGPU adapter and installs a software one where there is none.
// QUERN_NO_SETUP=1 in the environment turns it off.

import { ensureAdapter } from "./gpu.ts";
import { localHost } from "./host.ts";

export { ensureAdapter, localHost };
export type { Host, Outcome, RunOptions } from "./host.ts";

if (import.meta.main && !Deno.env.get("QUERN_NO_SETUP")) {
  const host = localHost();
  host.report(`Set-up: ${await ensureAdapter(host)}`);
}
