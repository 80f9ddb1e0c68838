// `/set`: settings of the session, most of them one word.

import { type CommandCall, CommandError, firstWord, textOf, wordsOf } from "./command.ts";
import { helpOn } from "./help.ts";
import { can } from "./model_facts.ts";
import { parseParameter } from "./parameters.ts";
import type { Session } from "./session.ts";
import { lookUp, nearest } from "../../text/nearest.ts";

/** Applies the words after the name of a setting; returns the message to print. */
type Setter = (session: Session, value: string) => string;

const SETTERS: Record<string, Setter> = {
  parameter: setParameter,
  system: setSystem,
  format: setFormat,
  noformat({ conversation }) {
    delete conversation.settings.format;
    return "Disabled format.";
  },
  think: setThink,
  nothink({ conversation }) {
    conversation.settings.think = false;
    return "Set 'nothink' mode.";
  },
  history: ({ history }) => toggle("history", () => history.enabled = true),
  nohistory: ({ history }) => toggle("nohistory", () => history.enabled = false),
  wordwrap: ({ look }) => toggle("wordwrap", () => look.wordWrap = true),
  nowordwrap: ({ look }) => toggle("nowordwrap", () => look.wordWrap = false),
  verbose: ({ look }) => toggle("verbose", () => look.verbose = true),
  quiet: ({ look }) => toggle("quiet", () => look.verbose = false),
};

/** Changes one setting, or lists all. */
export function set({ session, argument }: CommandCall): void {
  const [name, value] = firstWord(argument);
  if (name === "") return session.say(helpOn("set")!);
  const setter = lookUp(SETTERS, name);
  if (setter) return session.say(setter(session, value));
  const near = nearest(name, Object.keys(SETTERS));
  throw new CommandError(
    `There is no setting "${name}".${near ? ` Did you mean "${near}"?` : ""} Type /? set for help.`,
  );
}

function toggle(name: string, change: () => void): string {
  change();
  return `Set '${name}' mode.`;
}

function setParameter({ conversation }: Session, value: string): string {
  const [name, ...words] = wordsOf(value);
  if (!name || words.length === 0) return helpOn("parameter")!;
  conversation.settings.options[name] = parseParameter(name, words);
  return `Set parameter '${name}' to '${words.join(", ")}'`;
}

function setSystem({ conversation }: Session, value: string): string {
  if (value === "") throw new CommandError("Say what the model is told: /set system <text>");
  conversation.settings.system = textOf(value);
  return "Set system message.";
}

function setFormat({ conversation }: Session, value: string): string {
  if (value !== "json") {
    throw new CommandError("The only format to set here is JSON: /set format json");
  }
  conversation.settings.format = value;
  return "Set format to 'json' mode.";
}

function setThink(session: Session, level: string): string {
  const { settings, model } = session.conversation;
  if (!can(model.facts, "thinking")) {
    throw new CommandError(`Cannot set think: "${model.name}" does not support thinking.`);
  }
  if (!["", "true", "false", "low", "medium", "high", "max"].includes(level)) {
    throw new CommandError(
      `Cannot set think to "${level}": it must be low, medium, high or max, or nothing.`,
    );
  }
  settings.think = level === "" || level === "true" || (level !== "false" && level);
  return level === "" ? "Set 'think' mode." : `Set 'think' mode to '${level}'.`;
}
