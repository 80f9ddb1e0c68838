// `quern launch TOOL`: starts a coding tool that talks to the server at OLLAMA_HOST, with variables and
// arguments for this one start. It changes no file of the tool's settings.

import { type Api, ApiError, connect } from "../client/mod.ts";
import type { CliDependencies } from "../dependencies.ts";
import type { Terminal } from "../terminal/mod.ts";
import { type Target, type Tool, TOOLS } from "./launch_tools.ts";

/** Options of the command line. */
export interface LaunchOptions {
  model?: string;
  print?: boolean;
}

/** A tool that is not installed, or has no model to work with. */
export class LaunchError extends Error {
  override name = "LaunchError";
}

/** Prompts of coding tools alone are over 10,000 tokens. */
const LITTLE_CONTEXT = 32_768;

/**
 * Starts a tool and waits for its end.
 *
 * @param name one of TOOLS
 * @param args arguments for the tool
 * @returns its exit code
 * @throws {LaunchError} if it cannot be started
 */
export async function launch(
  dependencies: CliDependencies,
  name: string,
  args: string[],
  { model, print = false }: LaunchOptions,
): Promise<number> {
  const { terminal, environment } = dependencies;
  const tool = TOOLS.find((tool) => tool.name === name)!;
  await using api = await connect(dependencies, { mayStart: false });
  const chosen = await chooseModel(api, terminal, model);
  const target: Target = {
    url: api.url,
    model: chosen,
    key: environment.QUERN_API_KEY || undefined,
    contextLength: await contextLengthOf(api, chosen),
  };
  if (target.contextLength !== undefined && target.contextLength < LITTLE_CONTEXT) {
    terminal.writeError(
      `Warning: ${chosen} has room for ${target.contextLength} tokens, ` +
        `and prompts of ${tool.title} are longer than most models' that have little\n`,
    );
  }
  const variables = tool.environment(target);
  const command = [tool.program, ...tool.args(target), ...args];
  if (print) {
    terminal.write(shellLines(variables, command));
    return 0;
  }
  return await start(dependencies, tool, variables, command.slice(1));
}

async function start(
  { spawn, terminal }: CliDependencies,
  { program, title, install }: Tool,
  variables: Record<string, string>,
  args: string[],
): Promise<number> {
  if (!spawn) throw new LaunchError(`Cannot launch ${title}: no program can be started here`);
  // Ctrl-C is the tool's, which gets it from the terminal as well.
  const forget = terminal.onInterrupt(() => {});
  try {
    return await spawn(program, args, variables);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    throw new LaunchError(
      `Cannot launch ${title}: there is no program ${program} on the PATH; ` +
        `install it with \`${install}\``,
    );
  } finally {
    forget();
  }
}

/** The model that was named, the only one, or the one that is chosen at the terminal. */
async function chooseModel(api: Api, terminal: Terminal, named?: string): Promise<string> {
  if (named !== undefined) return named;
  const { models } = await api.json("/api/tags");
  const names = models.filter(({ capabilities }) => capabilities.includes("completion"))
    .map(({ name }) => name);
  if (names.length === 0) {
    throw new LaunchError(
      "Cannot launch anything: there is no model here; get one with `quern pull`",
    );
  }
  if (names.length === 1) return names[0]!;
  if (!terminal.stdinIsTerminal || !terminal.stdoutIsTerminal) {
    throw new LaunchError(
      `Cannot choose a model: there are ${names.length}; name one with --model, ` +
        `such as ${names[0]}`,
    );
  }
  terminal.write(names.map((name, index) => `${index + 1}. ${name}\n`).join(""));
  const line = await terminal.readLine(`Model (1 to ${names.length}): `);
  const name = names[Number(line) - 1] ?? names.find((name) => name === line?.trim());
  if (name === undefined) {
    throw new LaunchError(`Cannot choose a model: "${line ?? ""}" is none of the list`);
  }
  return name;
}

/** Tokens that a model was trained for; undefined for one of another server. */
async function contextLengthOf(api: Api, model: string): Promise<number | undefined> {
  try {
    const { model_info: facts } = await api.json("/api/show", { model });
    const length = facts?.[`${facts["general.architecture"]}.context_length`];
    return typeof length === "number" ? length : undefined;
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 404)) throw error;
    throw new LaunchError(`${error.message}; get it with \`quern pull ${model}\``);
  }
}

/** The same for a shell, a line for each variable and one for the command. */
function shellLines(variables: Record<string, string>, command: string[]): string {
  const exports = Object.entries(variables).map(([name, value]) =>
    `export ${name}=${quoted(value)}\n`
  );
  return `${exports.join("")}${command.map(quoted).join(" ")}\n`;
}

/** A word for a POSIX shell. */
function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
