// `quern show MODEL`: what a model is and what it carries, in sections, or one part as it stands.

import { connect } from "../client/mod.ts";
import { styleFor } from "../terminal/mod.ts";
import type { CliDependencies } from "../dependencies.ts";
import { formatSections, ownModelfile } from "../model_sections.ts";

/** The parts that can be asked for alone. */
const SHOW_PARTS = ["license", "modelfile", "parameters", "template", "system"] as const;

/** Options of the command line. */
export type ShowOptions = { [Part in typeof SHOW_PARTS[number]]?: boolean } & {
  verbose?: boolean;
};

/** Prints the sections of a model, or the part of it that an option names. */
export async function show(
  dependencies: CliDependencies,
  model: string,
  options: ShowOptions,
): Promise<number> {
  const parts = SHOW_PARTS.filter((part) => options[part]);
  if (parts.length > 1) {
    const flags = parts.map((part) => `--${part}`).join(" and ");
    throw new Error(`Cannot show ${flags} together: ask for one of them at a time`);
  }
  const { terminal, environment } = dependencies;
  const { verbose = false } = options;
  await using api = await connect(dependencies);
  const answer = await api.json("/api/show", { model, verbose });
  const [part] = parts;
  const text = part
    ? (part === "modelfile" ? ownModelfile(answer) : answer[part]) ?? ""
    : formatSections(answer, { style: styleFor(terminal.stdoutIsTerminal, environment), verbose });
  terminal.write(text === "" || text.endsWith("\n") ? text : `${text}\n`);
  return 0;
}
