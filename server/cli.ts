// The command line: arguments to commands, errors to exit codes. The commands themselves are in
// commands/, and all that they touch of the outside comes with their dependencies.

import { Command, CommanderError, InvalidArgumentError } from "commander";
import type { CliDependencies } from "./commands/dependencies.ts";
import { list } from "./commands/list.ts";
import { ps } from "./commands/ps.ts";
import { run, type RunOptions } from "./commands/run.ts";
import { serve } from "./commands/serve.ts";
import { messageOf } from "./errors.ts";
import { VERSION } from "./version.ts";

/**
 * Runs a command and gives its exit code: 0 done, 1 failed, 130 interrupted.
 *
 * @param args arguments after the program's name
 * @param dependencies what the commands work with; default the engine and this process
 */
export async function main(args: string[], dependencies?: CliDependencies): Promise<number> {
  const world = dependencies ?? (await import("./wiring.ts")).systemDependencies();
  let exitCode = 0;
  const program = createProgram(world, (code) => exitCode = code);
  try {
    await program.parseAsync(args, { from: "user" });
    return exitCode;
  } catch (error) {
    // Commander has printed what it had to say: help, the version, or a fault of the arguments.
    if (error instanceof CommanderError) return error.exitCode;
    world.terminal.writeError(`Error: ${messageOf(error)}\n`);
    return 1;
  }
}

function createProgram(world: CliDependencies, finish: (exitCode: number) => void): Command {
  const { write, writeError } = world.terminal;
  const program = new Command("quern")
    .description("Runs language models on this machine's GPU and serves them over HTTP.")
    .version(VERSION, "-v, --version")
    .exitOverride()
    .configureOutput({ writeOut: write, writeErr: writeError });

  program.command("serve").alias("start")
    .description("serve the HTTP API at OLLAMA_HOST")
    .action(async () => finish(await serve(world)));

  program.command("run")
    .description("answer a prompt, or prompts typed one after the other")
    .argument("<model>", "name of a model, or path of a .gguf file")
    .argument("[prompt]", "without it, standard input is read")
    .option("--temperature <number>", "0 always takes the most likely token", toNumber)
    .option("--seed <integer>", "same seed, same text", toInteger)
    .option("--num-predict <tokens>", "most tokens of an answer", toInteger)
    .option("--ctx <tokens>", "context window", toInteger)
    .option("--raw", "no chat template: continue the prompt as it stands")
    .option("--verbose", "counts and rates after the answer")
    .action(async (model: string, prompt: string | undefined, options: RunOptions) => {
      finish(await run(world, model, prompt, options));
    });

  program.command("list").alias("ls")
    .description("list the models of this machine")
    .argument("[filter]", "beginning of the names")
    .action(async (filter?: string) => finish(await list(world, filter)));

  program.command("ps")
    .description("list the models that the server has in memory")
    .action(async () => finish(await ps(world)));

  return program;
}

function toNumber(text: string): number {
  const value = Number(text);
  if (text.trim() === "" || !Number.isFinite(value)) {
    throw new InvalidArgumentError("It must be a number.");
  }
  return value;
}

function toInteger(text: string): number {
  const value = toNumber(text);
  if (!Number.isInteger(value)) throw new InvalidArgumentError("It must be an integer.");
  return value;
}

if (import.meta.main) Deno.exit(await main(Deno.args));
