// `quern bench MODEL --profile`: where the time of a model goes on this machine. The model is loaded in
// this process, because profiling a model of the server would slow down its other clients.

import { resolve } from "node:path";
import type { DeviceExamination, FileSource } from "../../../engine/mod.ts";
import { checkEnvironment } from "../../settings/environment.ts";
import { VERSION } from "../../version.ts";
import {
  formatHardwareReport,
  formatProfile,
  formatProfileMarkdown,
  type HardwareReport,
  makeReport,
  type ProfileReport,
  profileToJson,
  runLlamaBench,
} from "../bench/mod.ts";
import { findLocalModel } from "../client/mod.ts";
import type { CliDependencies } from "../dependencies.ts";
import { driverVersion, localMachine, type Machine } from "../doctor/mod.ts";
import type { Host } from "../setup/host.ts";
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

// `quern bench MODEL --report`: measures a model on this machine's device and writes what is found into two
// files that people can send in, JSON for programs and Markdown for readers.

/** Measures a model, writes the files into `folder`, and prints the text. */
export function report(
  dependencies: CliDependencies,
  model: string,
  options: BenchOptions,
  { host }: Pick<Machine, "host"> = localMachine(),
  folder = ".",
): Promise<number> {
  const { terminal, device } = dependencies;
  return interruptible(terminal, async (signal) => {
    if (!device) throw new Error(`Cannot report on "${model}": nothing computes here`);
    const examination = await device.examine();
    const { source, ...profile } = await profileHere(dependencies, model, options, signal);
    const { readBandwidth } = profile;
    if (readBandwidth === undefined) {
      throw new Error(`Cannot report on "${model}": nothing was read`);
    }
    const [promptTokens = 128] = options.promptTokens;
    const counts = { promptTokens, tokens: options.tokens };
    const peer = await runLlamaBench(host, source.path, counts);
    const made = makeReport({
      date: new Date(),
      program: {
        quern: VERSION,
        deno: Deno.version.deno,
        os: Deno.build.os,
        arch: Deno.build.arch,
      },
      examination,
      driver: await driverOf(host, examination),
      // The path of the file may be private, so reports do not contain it.
      profile: { ...profile, readBandwidth, model: model.split(/[/\\]/).at(-1)! },
      info: await dependencies.inspect(source.path),
      promptTokens,
      ...(peer && { peer }),
    });
    const text = formatHardwareReport(made);
    const paths = await writeReport(folder, made, text);
    terminal.write(text);
    const without = peer
      ? ""
      : "; llama-bench is not on the PATH, or failed, so that it is left out";
    terminal.writeError(`written to ${paths.join(" and ")}${without}\n`);
    return 0;
  });
}

async function driverOf(host: Host, { choice, profile }: DeviceExamination): Promise<string> {
  return choice.kind === "cpu" ? "" : await driverVersion(host, profile.description) ?? "";
}

/** Writes both files, named by model, device and day. Resolves with their paths. */
async function writeReport(folder: string, made: HardwareReport, text: string): Promise<string[]> {
  const plain = (name: string) =>
    name.toLowerCase().replaceAll(/[^a-z0-9.]+/g, "-").replace(/^-+|-+$/g, "").slice(0, 40);
  const name = ["quern-report", plain(made.model.name), plain(made.device.name), made.date].join(
    "_",
  );
  const paths = ["json", "md"].map((ending) => resolve(folder, `${name}.${ending}`));
  await Deno.writeTextFile(paths[0]!, JSON.stringify(made, null, 2) + "\n");
  await Deno.writeTextFile(paths[1]!, text);
  return paths;
}
