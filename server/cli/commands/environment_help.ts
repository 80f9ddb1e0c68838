// The environment variables at the end of help texts.

import { VARIABLES } from "../../settings/environment.ts";

const width = Math.max(...VARIABLES.map(({ name }) => name.length));

/** Names and what they do, a line each. */
export const environmentHelp = "\nEnvironment variables, with their defaults:\n" +
  VARIABLES.map(({ name, effect }) => `  ${name.padEnd(width)}  ${effect}`).join("\n");
