// Commands of the REPL: lines that begin with a slash. Their errors are CommandErrors, which the REPL
// shows.

import { ApiError } from "../client/mod.ts";
import {
  type CommandCall,
  CommandError,
  type CommandOutcome,
  firstWord,
  textOf,
} from "./command.ts";
import { helpOn } from "./help.ts";
import { showModel } from "./model_facts.ts";
import type { Session } from "./session.ts";
import { set } from "./set_command.ts";
import { show } from "./show_command.ts";
import { nearest } from "../../text/nearest.ts";

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
