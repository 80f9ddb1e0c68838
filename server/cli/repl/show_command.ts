// `/show`: facts about the model and the settings of the session.

import { formatSections, ownModelfile } from "../model_sections.ts";
import { styleFor } from "../terminal/mod.ts";
import { type CommandCall, CommandError } from "./command.ts";
import { withoutControls } from "../terminal/width.ts";
import { helpOn } from "./help.ts";
import { type ModelFacts, showModel } from "./model_facts.ts";
import type { Session } from "./session.ts";
import { lookUp, nearest } from "../../text/nearest.ts";

type Shower = (facts: ModelFacts, session: Session) => string;

const SHOWERS: Record<string, Shower> = {
  info: (facts, { terminal, environment }) =>
    formatSections(facts, {
      style: styleFor(terminal.stdoutIsTerminal, environment),
      verbose: false,
    }),
  license: ({ license }) => carried(license) ?? "No license was specified for this model.",
  modelfile: (facts) => carried(ownModelfile(facts)) ?? "No Modelfile is known of this model.",
  parameters: showParameters,
  system: ({ system }, { conversation }) =>
    carried(conversation.settings.system || system) ??
      "No system message was specified for this model.",
  template: ({ template }) =>
    carried(template) ?? "No prompt template was specified for this model.",
};

/** A text of the model, if it has one. */
function carried(text: string | undefined): string | undefined {
  return text ? withoutControls(text) : undefined;
}

/** Shows one fact, or lists all. */
export async function show({ session, argument, signal }: CommandCall): Promise<void> {
  const topic = argument.trim();
  if (topic === "") return session.say(helpOn("show")!);
  const shower = lookUp(SHOWERS, topic);
  if (!shower) {
    const near = nearest(topic, Object.keys(SHOWERS));
    throw new CommandError(
      `There is no "${topic}" to show.${near ? ` Did you mean "${near}"?` : ""} ` +
        "Type /? show for help.",
    );
  }
  const { model } = session.conversation;
  session.say(shower(await showModel(session.api, model.name, signal), session));
}

function showParameters({ parameters = "" }: ModelFacts, { conversation }: Session): string {
  const own = parameters.split("\n").filter((line) => line !== "");
  const set = Object.entries(conversation.settings.options).map(([name, value]) =>
    `${name.padEnd(30)} ${Array.isArray(value) ? value.map(quote).join(" ") : value}`
  );
  return section("Model defined parameters:", own, "No additional parameters were specified.") +
    (set.length > 0 ? "\n" + section("User defined parameters:", set) : "");
}

function quote(text: string): string {
  return JSON.stringify(text);
}

function section(head: string, lines: string[], none = ""): string {
  const shown = lines.length > 0 ? lines : [none];
  return `${head}\n${shown.map((line) => `  ${line}\n`).join("")}`;
}
