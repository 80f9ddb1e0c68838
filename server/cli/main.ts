// The command line: turns arguments into commands, and errors into exit codes. The commands are in
// commands/; they reach files, network and terminal only through their dependencies.
//
// Exit codes: 0 done, also if the reader of the output went away; 1 failed, or called wrongly, with
// the reason on standard error; 130 ended by Ctrl-C.

import { Command, CommanderError } from "../dependencies.ts";
import { connect } from "./client/mod.ts";
import { defineEmbed, defineRun } from "./commands/define_answers.ts";
import { defineBench, defineDoctor } from "./commands/define_machine.ts";
import {
  defineCreate,
  defineLooks,
  defineMemory,
  defineNames,
  defineTransfers,
} from "./commands/define_models.ts";
import { defineModelProcess, defineServe } from "./commands/define_serve.ts";
import { defineCompletions, defineLaunch, defineService } from "./commands/define_tools.ts";
import { defineKeys } from "./commands/keys.ts";
import { definePerplexity } from "./commands/perplexity.ts";
import { type Definition, environmentHelp } from "./commands/definition.ts";
import type { CliDependencies } from "./dependencies.ts";
import { messageOf } from "../log.ts";
import { VERSION } from "../version.ts";
import { defineTranscribe } from "./commands/transcribe.ts";
import { systemDependencies } from "./wiring.ts";

/** In the order of the help text. */
const DEFINITIONS: ((definition: Definition) => void)[] = [
  defineServe,
  defineRun,
  defineEmbed,
  defineTranscribe,
  defineTransfers,
  defineCreate,
  defineLooks,
  defineNames,
  defineMemory,
  defineBench,
  definePerplexity,
  defineDoctor,
  defineLaunch,
  defineKeys,
  defineService,
  defineCompletions,
  defineModelProcess,
];

/** Options whose value is optional, so that only "=" tells it from the next argument. */
const SWITCHES = ["--think", "--truncate"];

/**
 * Runs a command and gives its exit code.
 *
 * @param args arguments after the program's name
 * @param provided what the commands work with; default the engine and this process
 */
export async function main(args: string[], provided?: CliDependencies): Promise<number> {
  const dependencies = provided ?? systemDependencies();
  try {
    return await runCommand(dependencies, args);
  } catch (error) {
    if (isBrokenPipe(error)) return 0;
    return reportFailure(dependencies, error);
  }
}

async function runCommand(dependencies: CliDependencies, args: string[]): Promise<number> {
  let exitCode = 0;
  const program = createProgram(dependencies, (code) => exitCode = code);
  try {
    await program.parseAsync(withValues(args), { from: "user" });
    return exitCode;
  } catch (error) {
    // Commander has already printed the help, the version, or what is wrong with the arguments.
    if (!(error instanceof CommanderError)) throw error;
    if (error.code === "commander.version") await compareVersions(dependencies);
    return error.exitCode;
  }
}

function createProgram(dependencies: CliDependencies, finish: (exitCode: number) => void): Command {
  const { write, writeError, size } = dependencies.terminal;
  const width = () => dependencies.terminal.stdoutIsTerminal ? size().columns : 80;
  const program = new Command("quern")
    .description("Runs language models on this machine's GPU or CPU and serves them over HTTP.")
    .version(`quern version is ${VERSION}`, "-v, --version", "print the version")
    .helpOption("-h, --help", "print this help, or that of a command")
    .helpCommand("help [command]", "print the help of a command")
    .showHelpAfterError("`quern --help` lists the commands, `quern COMMAND --help` their options.")
    // Options after a command belong to it: the -v of `show -v` does not ask for the version.
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({
      writeOut: write,
      writeErr: writeError,
      outputError: (text, print) => print(text.replace(/^error: /, "Error: ")),
      getOutHelpWidth: width,
      getErrHelpWidth: width,
    })
    .addHelpText("after", environmentHelp);
  for (const define of DEFINITIONS) define({ program, dependencies, finish });
  return program;
}

/** Adds `=true` to switches, up to the end of the options. */
function withValues(args: string[]): string[] {
  const end = args.indexOf("--");
  return args.map((arg, index) =>
    SWITCHES.includes(arg) && (end === -1 || index < end) ? `${arg}=true` : arg
  );
}

/** Warns if the server at OLLAMA_HOST has another version than this program. */
async function compareVersions(dependencies: CliDependencies): Promise<void> {
  let warning: string | undefined;
  try {
    await using api = await connect(dependencies, { mayStart: false });
    const { version, quern_version } = await api.json("/api/version");
    if (quern_version === undefined) {
      warning = `the server at ${api.url} is not Quern, version ${version}`;
    } else if (quern_version !== VERSION) {
      warning = `the server at ${api.url} has version ${quern_version}`;
    }
  } catch (error) {
    warning = messageOf(error);
  }
  if (warning) dependencies.terminal.writeError(`Warning: ${warning}\n`);
}

function reportFailure(dependencies: CliDependencies, error: unknown): number {
  try {
    dependencies.terminal.writeError(`Error: ${messageOf(error)}\n`);
  } catch (failure) {
    if (!isBrokenPipe(failure)) throw failure;
  }
  return 1;
}

function isBrokenPipe(error: unknown): boolean {
  return error instanceof Deno.errors.BrokenPipe;
}
