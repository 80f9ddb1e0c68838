// `quern perplexity FILE MODEL`: how well a model predicts a text, and with --against how far a
// quantization is from another file of the same model. Both are loaded in this process.

import { resolve } from "node:path";
import { findLocalModel } from "../client/mod.ts";
import { interruptible } from "../terminal/interrupt.ts";
import { showLoadProgress, showProgress } from "../terminal/mod.ts";
import { type Definition, examples, toInteger } from "./definition.ts";
import { isPath } from "./run.ts";

/** Options of the command line. */
interface PerplexityCommand {
  against?: string;
  ctx: number;
  windows?: number;
  exact?: boolean;
  json?: boolean;
}

/** Adds `quern perplexity`. */
export function definePerplexity({ program, dependencies, finish }: Definition): void {
  program.command("perplexity")
    .summary("measure how well a model predicts a text")
    .description(
      "Measures the perplexity of a text, in windows that begin with BOS and of which the second " +
        "halves count, as llama-perplexity does. With --against the divergence from another file of " +
        "the model, such as one that is not quantized, and how often both have the same likeliest token.",
    )
    .argument("<file>", "a text file")
    .argument("<model>", "name of a model, or path of a .gguf file")
    .option("--against <model>", "the model that is taken for right")
    .option("--ctx <tokens>", "tokens of a window", toInteger, 512)
    .option("--windows <count>", "most windows; all if left out", toInteger)
    .option("--exact", "compute in f32 alone, also where weights are quantized")
    .option("--json", "the same as JSON, with numbers in full")
    .addHelpText(
      "after",
      examples([
        ["quern perplexity text.txt gemma3:1b", "one number, the lower the better"],
        ["quern perplexity text.txt q4.gguf --against f16.gguf", "what a quantization changes"],
      ]),
    )
    .action(async (file: string, model: string, options: PerplexityCommand) => {
      finish(await perplexity(dependencies, file, model, options));
    });
}

function perplexity(
  dependencies: Definition["dependencies"],
  file: string,
  model: string,
  { against, ctx: window, windows, exact = false, json = false }: PerplexityCommand,
): Promise<number> {
  const { terminal, environment, perplexity: measure } = dependencies;
  return interruptible(terminal, async (signal) => {
    if (!measure) throw new Error(`Cannot measure "${model}": nothing computes here`);
    const text = await Deno.readTextFile(file);
    const find = (name: string) =>
      findLocalModel(dependencies, isPath(name) ? resolve(name) : name);
    const source = await find(model);
    const other = against === undefined ? undefined : await find(against);
    using loading = showLoadProgress(terminal, environment);
    using progress = showProgress(terminal, environment);
    const onProgress = loading.update.bind(loading);
    const load = { contextLength: window + 1, maxSequences: 1, exact, signal, onProgress };
    const result = await measure({ source, ...(other && { against: other }) }, load, text, {
      window,
      signal,
      ...(windows !== undefined && { windows }),
      onWindow: ({ perplexity, windows }, all) => {
        progress.update({ status: `window ${windows} of ${all}: ${perplexity.toFixed(4)}` });
      },
    });
    progress[Symbol.dispose]();
    if (json) terminal.write(JSON.stringify(result, null, 2) + "\n");
    else {
      const { perplexity, error, tokens, windows, against: compared } = result;
      const lines = [
        `Perplexity        ${perplexity.toFixed(4)} +/- ${error.toFixed(4)}`,
        ...compared
          ? [
            `Of the other      ${compared.perplexity.toFixed(4)}`,
            `Divergence        ${compared.divergence.toFixed(6)} nats`,
            `Same top token    ${(100 * compared.sameTop).toFixed(2)} %`,
          ]
          : [],
        `Over              ${tokens} tokens in ${windows} windows of ${window}`,
      ];
      terminal.write(lines.join("\n") + "\n");
    }
    return 0;
  });
}
