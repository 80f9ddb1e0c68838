// Commands of the REPL: lines that begin with a slash. Their errors are CommandErrors, which the REPL
// shows.

import { lookUp, nearest } from "../../text/nearest.ts";
import { ApiError } from "../client/mod.ts";
import { formatSections, ownModelfile } from "../model_sections.ts";
import { styleFor } from "../terminal/mod.ts";
import { withoutControls } from "../terminal/format.ts";
import {
  type CommandCall,
  CommandError,
  type CommandOutcome,
  firstWord,
  textOf,
  wordsOf,
} from "./command.ts";
import { helpOn } from "./help.ts";
import { can, type ModelFacts, showModel } from "./model_facts.ts";
import { parseParameter } from "./parameters.ts";
import type { Session } from "./session.ts";

const COMMANDS: Record<string, (call: CommandCall) => CommandOutcome | Promise<CommandOutcome>> = {
  "/set": set,
  "/show": show,
  "/load": load,
  "/save": save,
  "/clear": clear,
  "/bye": () => "leave",
  "/exit": () => "leave",
  "/?": help,
  "/help": help,
};

/** Whether a text is a command: a slash and a word without further slashes, which a path would have. */
export function isCommand(text: string): boolean {
  return /^\/(?:\?|[a-z]+)(?:\s|$)/i.test(text);
}

/**
 * Runs the command of a text.
 *
 * @throws {CommandError} if there is no such command, or it cannot be done
 */
export async function runCommand(
  text: string,
  session: Session,
  signal: AbortSignal,
): Promise<CommandOutcome> {
  const [name, argument] = firstWord(text);
  const command = COMMANDS[name.toLowerCase()];
  if (command) return await command({ session, argument, signal });
  const near = nearest(name.toLowerCase(), Object.keys(COMMANDS));
  throw new CommandError(
    `There is no command ${name}.${near ? ` Did you mean ${near}?` : ""} Type /? for help.`,
  );
}

/** Continues with another model. If it cannot be loaded, the old one stays. */
async function load({ session, argument, signal }: CommandCall): Promise<void> {
  const name = requireName(argument, "/load <model>");
  const { conversation } = session;
  const before = conversation.model;
  try {
    conversation.model = { name, facts: await showModel(session.api, name, signal) };
    await session.load(signal);
  } catch (error) {
    conversation.model = before;
    if (!(error instanceof ApiError && error.status === 404)) throw error;
    throw new CommandError(
      `Cannot load "${name}": it is not on this machine. Pull it with \`quern pull ${name}\`.`,
    );
  }
  conversation.clear();
  session.say(`Loaded model '${name}'`);
  session.showSaved();
}

/** Creates a model from the session: its model, its settings and the conversation. */
async function save({ session, argument, signal }: CommandCall): Promise<void> {
  const model = requireName(argument, "/save <model>");
  const { model: { name, facts }, settings, messages } = session.conversation;
  const said = [...facts.messages ?? [], ...messages];
  await session.api.json("/api/create", {
    model,
    from: name,
    stream: false,
    ...(settings.system && { system: settings.system }),
    ...(Object.keys(settings.options).length > 0 && { parameters: settings.options }),
    ...(said.length > 0 && { messages: said }),
  }, { signal });
  session.say(`Created new model '${model}'`);
}

function clear({ session }: CommandCall): void {
  session.conversation.clear();
  session.say("Cleared session context");
}

function help({ session, argument }: CommandCall): void {
  const text = helpOn(argument.trim());
  if (!text) throw new CommandError(`There is no help on "${argument}". Type /? for an overview.`);
  session.say(text);
}

function requireName(argument: string, usage: string): string {
  const [name, rest] = firstWord(textOf(argument));
  if (name === "" || rest !== "") throw new CommandError(`Name one model: ${usage}`);
  return name;
}

// `/set`: settings of the session, most of them one word.

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
function set({ session, argument }: CommandCall): void {
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

// `/show`: facts about the model and the settings of the session.

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
async function show({ session, argument, signal }: CommandCall): Promise<void> {
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
