// `quern bench MODEL --profile`: where the time of a model goes on this machine. The model is loaded in
// this process, because profiling a model of the server would slow down its other clients.

import { resolve } from "node:path";
import type { FileSource } from "../../../engine/mod.ts";
import { checkEnvironment } from "../../settings/environment.ts";
import {
  formatProfile,
  formatProfileMarkdown,
  type ProfileReport,
  profileToJson,
} from "../bench/mod.ts";
import { findLocalModel } from "../client/mod.ts";
import type { CliDependencies } from "../dependencies.ts";
import { interruptible } from "../terminal/interrupt.ts";
import { showLoadProgress } from "../terminal/mod.ts";
import type { BenchOptions } from "./bench.ts";
import { isPath } from "./run.ts";

const FORMATS = { table: formatProfile, markdown: formatProfileMarkdown, json: profileToJson };

/** Tokens that the window has beyond prompt and answer. */
const MARGIN = 32;

/** Profiles a model and prints where its time goes. */
export function profile(
  dependencies: CliDependencies,
  model: string,
  options: BenchOptions,
): Promise<number> {
  const { terminal } = dependencies;
  return interruptible(terminal, async (signal) => {
    const { source: _, ...report } = await profileHere(dependencies, model, options, signal);
    terminal.write(FORMATS[options.json ? "json" : options.format](report));
    return 0;
  });
}

/** Profiles a model in this process; `source` is where its files are. */
export async function profileHere(
  dependencies: CliDependencies,
  model: string,
  { promptTokens: [promptTokens = 128], tokens, ctx }: BenchOptions,
  signal: AbortSignal,
): Promise<ProfileReport & { source: FileSource }> {
  const { terminal, environment, device } = dependencies;
  checkEnvironment(environment, "Cannot go on");
  const name = isPath(model) ? resolve(model) : model;
  if (!dependencies.profile) throw new Error(`Cannot profile "${model}": nothing computes here`);
  const source = await findLocalModel(dependencies, name);
  const wanted = promptTokens + tokens;
  if (ctx !== undefined && ctx < wanted) {
    throw new Error(
      `Cannot profile "${model}": a prompt of ${promptTokens} tokens and an answer of ${tokens} ` +
        `do not fit a window of ${ctx}; leave --ctx out, or set --prompt-tokens and --tokens lower`,
    );
  }
  // Before the load, which may leave no memory for it.
  const readBandwidth = await device?.readBandwidth();
  const describedAs = await device?.describe();
  using display = showLoadProgress(terminal, environment);
  const load = {
    contextLength: ctx ?? wanted + MARGIN,
    maxSequences: 1,
    signal,
    onProgress: display.update.bind(display),
  };
  const profiled = await dependencies.profile(source, load, { promptTokens, tokens, signal });
  return {
    source,
    model,
    ...(describedAs !== undefined && { device: describedAs }),
    ...(readBandwidth !== undefined && { readBandwidth }),
    ...profiled,
  };
}
