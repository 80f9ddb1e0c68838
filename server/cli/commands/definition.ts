// What the definitions of the commands share: where they are added, how values of options are read,
// and the examples and environment variables of a help text.

import { type Command, InvalidArgumentError } from "../../dependencies.ts";
import type { CliDependencies } from "../dependencies.ts";
import { READERS, type Setting, VARIABLES } from "../../settings/environment.ts";

/** The arguments of a definition. */
export interface Definition {
  program: Command;
  dependencies: CliDependencies;
  /** Takes the exit code of the command that ran. */
  finish: (exitCode: number) => void;
}

/** The end of a help text: command lines, each below what it does. */
export function examples(lines: readonly (readonly [command: string, effect: string])[]): string {
  return `\nExamples:\n${
    lines.map(([command, effect]) => `  # ${effect}\n  ${command}`).join("\n")
  }`;
}

/** @throws {InvalidArgumentError} unless it is a finite number */
export function toNumber(text: string): number {
  const value = Number(text);
  if (text.trim() === "" || !Number.isFinite(value)) {
    throw new InvalidArgumentError("It must be a number.");
  }
  return value;
}

/** @throws {InvalidArgumentError} unless it is an integer */
export function toInteger(text: string): number {
  const value = toNumber(text);
  if (!Number.isInteger(value)) throw new InvalidArgumentError("It must be an integer.");
  return value;
}

/** @throws {InvalidArgumentError} unless it is true or false */
export function toBoolean(text: string): boolean {
  if (text !== "true" && text !== "false") {
    throw new InvalidArgumentError("It must be true or false.");
  }
  return text === "true";
}

const THINK_LEVELS = ["low", "medium", "high", "max"];

/** @throws {InvalidArgumentError} unless it is true, false or a level of thinking */
export function toThink(text: string): boolean | string {
  if (THINK_LEVELS.includes(text)) return text;
  if (text === "true" || text === "false") return text === "true";
  throw new InvalidArgumentError(`It must be true, false, ${THINK_LEVELS.join(", ")}.`);
}

const width = Math.max(...VARIABLES.map(({ name }) => name.length));

function lineOf({ name, help, default: value, standard = value }: Setting): string {
  return `  ${name.padEnd(width)}  ${help}${standard ? ` (${standard})` : ""}`;
}

/** Names and what they do, a line each, by what reads them. */
export const environmentHelp = "\nEnvironment variables, with their defaults:\n" +
  Object.entries(READERS).map(([name, who]) =>
    `\nFor ${who}:\n${VARIABLES.filter(({ reader }) => reader === name).map(lineOf).join("\n")}`
  ).join("\n");
