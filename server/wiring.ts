// The one place where the server meets the engine's machinery (workers, GPU) and this process.

import { inspectModel, openModelInWorker } from "../engine/mod.ts";
import type { CliDependencies } from "./commands/dependencies.ts";
import { systemTerminal } from "./terminal/terminal.ts";

/** What the commands work with outside of tests. */
export function systemDependencies(): CliDependencies {
  return {
    open: openModelInWorker,
    inspect: inspectModel,
    terminal: systemTerminal(),
    environment: Deno.env.toObject(),
    fetch: globalThis.fetch,
  };
}
