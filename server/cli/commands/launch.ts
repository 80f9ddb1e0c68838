// `quern launch TOOL`: starts a coding tool that talks to the server at OLLAMA_HOST, with variables and
// arguments for this one start. It changes no file of the tool's settings.

import { type Api, ApiError, connect } from "../client/mod.ts";
import type { CliDependencies } from "../dependencies.ts";
import type { Terminal } from "../terminal/mod.ts";

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
  const { models } = await api.json("/api/tags");
  if (named !== undefined) {
    // As it is listed, with its tag: Codex pulls a model that it does not find in the list.
    return models.find(({ name }) => name === `${named}:latest`)?.name ?? named;
  }
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

/**
 * The window that a request of a tool gets, in tokens; undefined where it is not known. Servers other
 * than Quern's tell the one that the model was trained for at most.
 */
async function contextLengthOf(api: Api, model: string): Promise<number | undefined> {
  try {
    const { model_info: facts } = await api.json("/api/show", { model });
    const path = `/v1/models/${encodeURIComponent(model)}` as const;
    const { meta } = await api.json(path).catch(() => ({})) as { meta?: { n_ctx?: number } };
    const length = meta?.n_ctx ?? facts?.[`${facts["general.architecture"]}.context_length`];
    return typeof length === "number" ? length : undefined;
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 404)) throw error;
    throw new LaunchError(`${error.message}; get it with \`quern pull ${model}\``);
  }
}

/** What starts the tool in a shell: a line for each variable and one for the command. */
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

// The coding tools that `quern launch` starts, and what makes each of them talk to a server of ours:
// variables of its environment and arguments, never a file of its settings. What they read of both is
// documented by each tool; tests/clients tries them unmodified.

/** The server and the model to which a tool is directed. */
interface Target {
  /** Address of the server, without a slash at the end. */
  url: string;
  model: string;
  /** Key of the server; undefined if it asks for none. */
  key: string | undefined;
  /** The window that a request gets, in tokens; undefined if it is not known. */
  contextLength: number | undefined;
}

/** A coding tool. */
interface Tool {
  /** As it is called here. */
  name: string;
  title: string;
  /** Name of its program. */
  program: string;
  install: string;
  environment(target: Target): Record<string, string>;
  /** Arguments before those of the user. */
  args(target: Target): string[];
}

/** Tokens of a window that an answer may take, the rest being for what it answers. */
function answerOf(contextLength: number): number {
  return Math.floor(contextLength / 4);
}

/** Fewest tokens that Claude Code takes as the window in which it compacts. */
const LEAST_COMPACT_WINDOW = 100_000;

/** Stands where a tool wants a key and the server asks for none. */
const ANY_KEY = "none";

/** In the order of the help. */
export const TOOLS: readonly Tool[] = [
  {
    name: "claude",
    title: "Claude Code",
    program: "claude",
    install: "npm install -g @anthropic-ai/claude-code",
    environment: ({ url, model, key, contextLength }) => ({
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_AUTH_TOKEN: key ?? ANY_KEY,
      // A key that is set for Anthropic would go before the token.
      ANTHROPIC_API_KEY: "",
      // Each of its three sizes of models is this one.
      ANTHROPIC_DEFAULT_OPUS_MODEL: model,
      ANTHROPIC_DEFAULT_SONNET_MODEL: model,
      ANTHROPIC_DEFAULT_HAIKU_MODEL: model,
      ANTHROPIC_SMALL_FAST_MODEL: model,
      CLAUDE_CODE_SUBAGENT_MODEL: model,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      // A line about tokens that are left would change the beginning of each prompt.
      CLAUDE_CODE_TOTAL_TOKENS_REMINDER: "off",
      // It would take the window of Anthropic's models for this one's.
      CLAUDE_CODE_DISABLE_1M_CONTEXT: "1",
      ...(contextLength !== undefined && {
        CLAUDE_CODE_MAX_CONTEXT_TOKENS: `${contextLength}`,
        // Of less it says that it takes the least, which would go before the window above.
        ...(contextLength >= LEAST_COMPACT_WINDOW && {
          CLAUDE_CODE_AUTO_COMPACT_WINDOW: `${contextLength}`,
        }),
        CLAUDE_CODE_MAX_OUTPUT_TOKENS: `${answerOf(contextLength)}`,
      }),
    }),
    args: ({ model }) => ["--model", model],
  },
  {
    name: "codex",
    title: "Codex",
    program: "codex",
    install: "npm install -g @openai/codex",
    environment: ({ url, key }) => ({
      CODEX_OSS_BASE_URL: `${url}/v1`,
      ...(key !== undefined && { OPENAI_API_KEY: key }),
    }),
    args: ({ url, model, key, contextLength }) => [
      // Without them it takes a window of its own for a model that it does not know.
      ...(contextLength === undefined ? [] : [
        ...["--config", `model_context_window=${contextLength}`],
        ...["--config", `model_auto_compact_token_limit=${Math.floor(0.8 * contextLength)}`],
      ]),
      ...(key === undefined
        ? ["--oss", "--local-provider", "ollama", "--model", model]
        // Its own provider for Ollama sends no key.
        : [
          ...["--config", 'model_provider="quern"'],
          ...["--config", 'model_providers.quern.name="Quern"'],
          ...["--config", `model_providers.quern.base_url=${JSON.stringify(`${url}/v1`)}`],
          ...["--config", 'model_providers.quern.env_key="OPENAI_API_KEY"'],
          ...["--config", 'model_providers.quern.wire_api="responses"'],
          ...["--model", model],
        ]),
    ],
  },
  {
    name: "opencode",
    title: "OpenCode",
    program: "opencode",
    install: "npm install -g opencode-ai",
    environment: (target) => ({
      OPENCODE_CONFIG_CONTENT: JSON.stringify(openCodeSettings(target)),
    }),
    args: () => [],
  },
  {
    name: "qwen",
    title: "Qwen Code",
    program: "qwen",
    install: "npm install -g @qwen-code/qwen-code",
    environment: ({ url, model, key }) => ({
      OPENAI_BASE_URL: `${url}/v1`,
      OPENAI_API_KEY: key ?? ANY_KEY,
      OPENAI_MODEL: model,
    }),
    args: () => ["--auth-type", "openai"],
  },
  {
    name: "copilot",
    title: "GitHub Copilot CLI",
    program: "copilot",
    install: "npm install -g @github/copilot",
    environment: ({ url, model, key }) => ({
      COPILOT_PROVIDER_TYPE: "openai",
      COPILOT_PROVIDER_BASE_URL: `${url}/v1`,
      COPILOT_MODEL: model,
      COPILOT_OFFLINE: "true",
      ...(key !== undefined && { COPILOT_PROVIDER_API_KEY: key }),
    }),
    args: () => [],
  },
  {
    name: "aider",
    title: "Aider",
    program: "aider",
    install: "pip install aider-install && aider-install",
    environment: ({ url, key }) => ({
      OPENAI_API_BASE: `${url}/v1`,
      OPENAI_API_KEY: key ?? ANY_KEY,
    }),
    args: ({ model }) => ["--model", `openai/${model}`],
  },
];

/** OpenCode's settings, which it takes from a variable and merges with those of its files. */
function openCodeSettings({ url, model, key, contextLength }: Target) {
  return {
    provider: {
      quern: {
        npm: "@ai-sdk/openai-compatible",
        name: "Quern",
        options: { baseURL: `${url}/v1`, ...(key !== undefined && { apiKey: key }) },
        models: {
          [model]: {
            name: model,
            ...(contextLength !== undefined && {
              limit: { context: contextLength, output: answerOf(contextLength) },
            }),
          },
        },
      },
    },
    model: `quern/${model}`,
    small_model: `quern/${model}`,
  };
}
