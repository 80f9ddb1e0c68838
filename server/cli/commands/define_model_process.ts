// The command line's hidden command by which a compiled program runs the process of a model.

import { serveModelProcess } from "../../../engine/mod.ts";
import type { Definition } from "./definition.ts";

/** Name of the command. */
export const MODEL_PROCESS = "model-process";

/** Adds `quern model-process`. */
export function defineModelProcess({ program }: Definition): void {
  program.command(MODEL_PROCESS, { hidden: true }).action(serveModelProcess);
}
