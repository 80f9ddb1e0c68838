// The clients that are programs of the command line, most of them coding agents. Their prompts and
// tools are longer than the window of the model in the box, which they have to say; the rest is tried
// with `agent`, a copy of it whose template leaves all that out and asks what it can answer.

import { type Client, type Outcome, type Place, type Results, runProgram } from "./client.ts";
import { AGENT, AGENT_ANSWER, BOX } from "./server.ts";

/** What one answer may take. In milliseconds. */
const LIMIT = 120_000;
const QUESTION = "How do I pull a model?";
/** What they say of a prompt that is too long, each in its words. */
const TOO_LONG = /too long|longer than the context|context window|ran out of room/i;

interface Agent {
  name: string;
  /** With its version. */
  package: string;
  /** Files of its settings below its home. */
  files?(url: string, model: string): Record<string, unknown>;
  environment?(url: string, model: string): Record<string, string>;
  /** A command that has to run before. */
  before?(url: string, model: string): [string, ...string[]];
  command(url: string, model: string): [string, ...string[]];
  /** Its own prompt is short enough for the model in the box. */
  isShort?: boolean;
}

const agents: Agent[] = [
  {
    name: "codex --oss",
    package: "@openai/codex@0.169.0",
    environment: (url) => ({ CODEX_OSS_BASE_URL: `${url}/v1` }),
    command: (_, model) => [
      "codex",
      ...["exec", "--oss", "--local-provider", "ollama", "--skip-git-repo-check"],
      ...["--model", model, QUESTION],
    ],
  },
  {
    name: "claude-code",
    package: "@anthropic-ai/claude-code@2.1.330",
    environment: (url, model) => ({
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_AUTH_TOKEN: "any",
      ANTHROPIC_SMALL_FAST_MODEL: model,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    }),
    command: (_, model) => ["claude", "--print", QUESTION, "--model", model],
  },
  {
    name: "opencode",
    package: "opencode-ai@1.18.33",
    files: (url, model) => ({
      "opencode.json": {
        provider: {
          quern: {
            npm: "@ai-sdk/openai-compatible",
            options: { baseURL: `${url}/v1` },
            models: { [model]: { name: model } },
          },
        },
        // It would compact a conversation of one prompt for ever.
        compaction: { auto: false },
        small_model: `quern/${model}`,
      },
    }),
    command: (_, model) => ["opencode", "run", "--model", `quern/${model}`, QUESTION],
  },
  {
    name: "cline",
    package: "cline@3.0.65",
    before: (url, model) => [
      "cline",
      ...["auth", "--provider", "openai", "--apikey", "any"],
      ...["--modelid", model, "--baseurl", `${url}/v1`],
    ],
    command: (_, model) => ["cline", "--provider", "openai", "--model", model, QUESTION],
  },
  {
    name: "qwen-code",
    package: "@qwen-code/qwen-code@0.24.4",
    environment: (url, model) => ({
      OPENAI_BASE_URL: `${url}/v1`,
      OPENAI_API_KEY: "any",
      OPENAI_MODEL: model,
    }),
    command: () => ["qwen", "--auth-type", "openai", "--prompt", QUESTION],
  },
  {
    name: "pi",
    package: "@mariozechner/pi-coding-agent@0.73.1",
    files: (url, model) => ({
      ".pi/agent/models.json": {
        providers: {
          quern: {
            baseUrl: `${url}/v1`,
            api: "openai-completions",
            apiKey: "any",
            models: [{ id: model }],
          },
        },
      },
    }),
    environment: () => ({ PI_OFFLINE: "1" }),
    command: (_, model) => ["pi", "--print", QUESTION, "--provider", "quern", "--model", model],
    isShort: true,
  },
  {
    name: "continue",
    package: "@continuedev/cli@1.5.47",
    files: (url, model) => ({
      // YAML is JSON, too.
      ".continue/config.yaml": {
        name: "quern",
        version: "1.0.0",
        schema: "v1",
        models: [{ name: model, provider: "ollama", model, apiBase: url, roles: ["chat"] }],
      },
    }),
    command: () => ["cn", "--print", QUESTION, "--config", ".continue/config.yaml"],
    isShort: true,
  },
  {
    name: "copilot",
    package: "@github/copilot@1.0.102",
    environment: (url, model) => ({
      COPILOT_PROVIDER_TYPE: "openai",
      COPILOT_PROVIDER_BASE_URL: `${url}/v1`,
      COPILOT_MODEL: model,
      COPILOT_OFFLINE: "true",
    }),
    command: () => ["copilot", "--prompt", QUESTION],
  },
];

/** The clients. */
export const agentClients: Client[] = agents.map((agent) => ({
  name: agent.name,
  packages: [agent.package],
  can: agent.isShort ? ["chat"] : ["chat", "overflow"],
  run: (place) => runAgent(agent, place),
}));

async function runAgent(agent: Agent, place: Place): Promise<Results> {
  const chat = await ask(agent, place, AGENT);
  const results: Results = { chat: expect(chat, AGENT_ANSWER) };
  if (!agent.isShort) {
    const overflow = await ask(agent, place, BOX);
    results.overflow = expect(overflow, TOO_LONG);
  }
  return results;
}

/** Asks the question with settings of its own. */
async function ask(agent: Agent, place: Place, model: string): Promise<Outcome> {
  const { url, folder, node } = place;
  const home = `${place.home}/${model.replace(":", "_")}`;
  await Deno.mkdir(home);
  for (const [path, value] of Object.entries(agent.files?.(url, model) ?? {})) {
    await Deno.mkdir(`${home}/${path}`.replace(/[^/]*$/, ""), { recursive: true });
    await Deno.writeTextFile(`${home}/${path}`, JSON.stringify(value));
  }
  const environment = agent.environment?.(url, model) ?? {};
  const run = ([program, ...args]: [string, ...string[]]) =>
    runProgram(
      [`${folder}/node_modules/.bin/${program}`, ...args],
      { home, node },
      LIMIT,
      environment,
    );
  if (agent.before) await run(agent.before(url, model));
  return await run(agent.command(url, model));
}

/** Holds what a program wrote against what has to be in it. */
function expect({ code, text, timedOut }: Outcome, pattern: RegExp): { failure?: string } {
  if (!timedOut && pattern.test(text)) return {};
  const end = timedOut ? `it took over ${LIMIT / 1000} s` : `it ended with ${code}`;
  return { failure: [end, ...text.split("\n").slice(-20)].join("\n").trim() };
}
