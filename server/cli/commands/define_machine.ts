// The command line's commands about this machine: `doctor` and `bench`.

import { InvalidArgumentError, Option } from "../../dependencies.ts";
import { proofOptions, readSettings, tuningFolder } from "../../settings/settings.ts";
import type { CliDependencies } from "../dependencies.ts";
import {
  examine,
  examineKernels,
  formatSection,
  formatTodos,
  localMachine,
  type Look,
  type Machine,
  proveDevice,
  type Section,
  worst,
} from "../doctor/mod.ts";
import { showProgress, styleFor } from "../terminal/mod.ts";
import { bench, BENCH_FORMATS, type BenchOptions } from "./bench.ts";
import { type Definition, examples } from "./definition.ts";
import { profile, report } from "./profile.ts";

/** Adds `quern doctor`. */
export function defineDoctor({ program, dependencies, finish }: Definition): void {
  program.command("doctor")
    .summary("tell whether this machine is fit, and what to do if not")
    .description(
      "Looks at the GPU and tries it, at its memory and what fits there, the store of models, the " +
        "server, the environment variables, and says what to do where something is wrong. " +
        "The exit code is 1 if there is a problem; warnings leave it 0.",
    )
    .option("--json", "the same as JSON, with numbers in full")
    .option("--tune", "time the kernels of the GPU anew, and keep the fastest for all loads")
    .option("--prove", "compare what the GPU computes of each model with what the CPU does")
    .addHelpText(
      "after",
      examples([
        ["quern doctor", "before the first model, or when something is slow or fails"],
        ["quern doctor --json > report.json", "for a report of a fault; keys are left out"],
        ["quern doctor --tune", "after a change of the GPU's driver, with the server stopped"],
        ["quern doctor --prove", "when answers look wrong"],
      ]),
    )
    .action(async (options: DoctorOptions) => finish(await doctor(dependencies, options)));
}

/** Adds `quern bench`. */
export function defineBench({ program, dependencies, finish }: Definition): void {
  program.command("bench")
    .summary("measure how fast a model is")
    .description(
      "Measures how long a model takes to load, how fast it reads prompts (prefill) and writes " +
        "answers (decode), one by one and several at a time, and how long the first token takes. " +
        "The server at OLLAMA_HOST is measured; without one, the model is loaded in this process. " +
        "Each number is the median of the repeats, with the least and the most beside it.",
    )
    .argument("<model>", "name of a model, or path of a .gguf file")
    .addOption(counts("--prompt-tokens <counts>", "lengths of prompts", [128, 512, 2048]))
    .option("--tokens <count>", "length of answers", toCount, 64)
    .addOption(counts("--parallel <counts>", "answers at a time", [1, 4, 8]))
    .option("--repeat <count>", "how often each is measured", toCount, 3)
    .option("--ctx <tokens>", "context window; the server's own if left out", toCount)
    .option("--draft <model>", "draft model, measured as well")
    .addOption(
      new Option("--format <format>", "how to print").choices(BENCH_FORMATS).default("table"),
    )
    .option("--json", "the same as --format json")
    .option("--profile", "where the time goes instead: by operation and by layer")
    .option("--report", "write a report of this device to send in, as JSON and Markdown")
    .addHelpText(
      "after",
      "\nA profile runs a prompt of the first of --prompt-tokens and an answer of --tokens with each " +
        "operation\ntimed by itself: its time, its share of the steps, what it moves and computes in " +
        "a second, and how\nmuch that is of what a plain read of the memory reaches. What is between " +
        "operations has a row of its\nown. The model is loaded in this process, also where a server " +
        "runs.\n",
    )
    .addHelpText(
      "after",
      examples([
        ["quern bench gemma3:1b", "all measures, some minutes on a small GPU"],
        ["quern bench gemma3:1b --prompt-tokens 512 --parallel 1", "the two numbers most quoted"],
        [
          "OLLAMA_NUM_PARALLEL=8 quern bench gemma3:1b",
          "without a server: eight at a time as well",
        ],
        ["quern bench gemma3:1b --profile", "what each operation takes, and each layer"],
        ["quern bench ./model.gguf --format markdown", "a table for a page or an issue"],
        ["quern bench gemma3:1b --report", "two files for bench/results of the project"],
      ]),
    )
    .action(async (model: string, options: BenchOptions) => {
      const run = options.report ? report : options.profile ? profile : bench;
      finish(await run(dependencies, model, options));
    });
}

/** An option of several numbers, with commas between. */
function counts(flags: string, description: string, initial: number[]): Option {
  return new Option(flags, description).argParser(toCounts).default(initial, initial.join(","));
}

/** @throws {InvalidArgumentError} unless it is a whole number from 1 on */
function toCount(text: string): number {
  if (!/^[1-9]\d{0,6}$/.test(text)) {
    throw new InvalidArgumentError("It must be a whole number from 1 on.");
  }
  return Number(text);
}

/** @throws {InvalidArgumentError} unless they are such numbers with commas between */
function toCounts(text: string): number[] {
  return text.split(",").map((part) => toCount(part.trim()));
}

/** Options of the command line. */
interface DoctorOptions {
  json?: boolean;
  /** Whether to tune the kernels of the GPU anew. */
  tune?: boolean;
  /** Whether to prove the device by all models of the store. */
  prove?: boolean;
}

/** Wider lines are hard to read. */
const WIDEST = 100;

/**
 * Looks at the machine and prints what it finds as it goes; as JSON, all at the end.
 *
 * @returns the exit code: 1 if there is a problem, 0 if all is well or works with warnings
 */
export async function doctor(
  dependencies: CliDependencies,
  { json = false, tune = false, prove = false }: DoctorOptions,
  machine: Machine = localMachine(),
): Promise<number> {
  const { terminal, environment } = dependencies;
  const look: Look = {
    style: styleFor(terminal.stdoutIsTerminal, environment),
    columns: Math.min(WIDEST, terminal.size().columns),
  };
  const sections: Section[] = [];
  const show = (section: Section) => {
    sections.push(section);
    if (!json) terminal.write(formatSection(section, look));
  };
  for await (const section of examine(dependencies, machine)) show(section);
  if (tune) show(await tuneKernels(dependencies));
  if (prove) show(await proveModels(dependencies));
  const findings = sections.flatMap((section) => section.findings);
  const state = worst(findings.map(({ mark }) => mark));
  terminal.write(
    json ? JSON.stringify(toReport(state, sections), null, 2) + "\n" : formatTodos(findings, look),
  );
  return state === "problem" ? 1 : 0;
}

/** Tunes the GPU's kernels, and shows how far it is. */
async function tuneKernels({ device, terminal, environment }: CliDependencies): Promise<Section> {
  const folder = tuningFolder(readSettings(environment));
  using progress = showProgress(terminal, environment);
  return await examineKernels(async () => {
    if (!device?.tune) throw new Error("there is no device to tune");
    if (folder === undefined) throw new Error("there is no folder to keep it in: set QUERN_CACHE");
    return await device.tune(folder, (done, all) => {
      progress.update({ status: `tuning kernels, ${done} of ${all}` });
    });
  });
}

/** Proves the device by all models, and shows which one is being compared. */
async function proveModels(
  { device, inspect, terminal, environment }: CliDependencies,
): Promise<Section> {
  const settings = readSettings({ ...environment, QUERN_NO_PROOF: "" });
  const [proof, prove] = [proofOptions(settings), device?.prove];
  if (!prove) throw new Error("Cannot prove the device: there is none");
  if (!proof) {
    throw new Error("Cannot keep what is proved: there is no folder for it; set QUERN_CACHE");
  }
  using progress = showProgress(terminal, environment);
  return await proveDevice({
    ...{ models: settings.models, proof, inspect, prove },
    onModel: (name, done, all) => {
      progress.update({ status: `comparing ${name} with the CPU, ${done + 1} of ${all}` });
    },
  });
}

function toReport(state: string, sections: Section[]) {
  return {
    state,
    sections: sections.map(({ title, findings, facts = {} }) => ({ title, findings, facts })),
  };
}
