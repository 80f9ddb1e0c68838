// `quern doctor`: whether this machine is fit to run models, and what to do where it is not.

import {
  examine,
  formatSection,
  formatTodos,
  localMachine,
  type Look,
  type Machine,
  type Section,
  worst,
} from "../doctor/mod.ts";
import { styleFor } from "../terminal/mod.ts";
import type { CliDependencies } from "../dependencies.ts";

/** Options of the command line. */
export interface DoctorOptions {
  json?: boolean;
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
  { json = false }: DoctorOptions,
  machine: Machine = localMachine(),
): Promise<number> {
  const { terminal, environment } = dependencies;
  const look: Look = {
    style: styleFor(terminal.stdoutIsTerminal, environment),
    columns: Math.min(WIDEST, terminal.size().columns),
  };
  const sections: Section[] = [];
  for await (const section of examine(dependencies, machine)) {
    sections.push(section);
    if (!json) terminal.write(formatSection(section, look));
  }
  const findings = sections.flatMap((section) => section.findings);
  const state = worst(findings.map(({ mark }) => mark));
  terminal.write(
    json ? JSON.stringify(toReport(state, sections), null, 2) + "\n" : formatTodos(findings, look),
  );
  return state === "problem" ? 1 : 0;
}

function toReport(state: string, sections: Section[]) {
  return {
    state,
    sections: sections.map(({ title, findings, facts = {} }) => ({ title, findings, facts })),
  };
}
