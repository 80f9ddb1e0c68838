// `quern doctor`: whether this machine is fit to run models, and what to do where it is not.

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
import { proofOptions, readSettings, tuningFolder } from "../../settings/settings.ts";
import { showProgress, styleFor } from "../terminal/mod.ts";
import type { CliDependencies } from "../dependencies.ts";

/** Options of the command line. */
export interface DoctorOptions {
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
