// The coding tools that `quern launch` starts, and what makes each of them talk to a server of ours:
// variables of its environment and arguments, never a file of its settings. What they read of both is
// documented by each tool; tests/clients tries them unmodified.

/** The server and the model to which a tool is directed. */
export interface Target {
  /** Address of the server, without a slash at the end. */
  url: string;
  model: string;
  /** Key of the server; undefined if it asks for none. */
  key: string | undefined;
  /** The model's window in tokens; undefined if it is not known. */
  contextLength: number | undefined;
}

/** A coding tool. */
export interface Tool {
  /** As it is called here. */
  name: string;
  title: string;
  /** Name of its program. */
  program: string;
  /** How it is installed. */
  install: string;
  environment(target: Target): Record<string, string>;
  /** Arguments before those of the user. */
  args(target: Target): string[];
}

/** Stands where a tool wants a key and the server asks for none. */
const ANY_KEY = "none";

/** In the order of the help. */
export const TOOLS: readonly Tool[] = [
  {
    name: "claude",
    title: "Claude Code",
    program: "claude",
    install: "npm install -g @anthropic-ai/claude-code",
    environment: ({ url, model, key }) => ({
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_AUTH_TOKEN: key ?? ANY_KEY,
      // A key that is set for Anthropic would go before the token.
      ANTHROPIC_API_KEY: "",
      // Each of its three sizes of models is this one.
      ANTHROPIC_DEFAULT_OPUS_MODEL: model,
      ANTHROPIC_DEFAULT_SONNET_MODEL: model,
      ANTHROPIC_DEFAULT_HAIKU_MODEL: model,
      ANTHROPIC_SMALL_FAST_MODEL: model,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
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
    args: ({ url, model, key }) =>
      key === undefined
        ? ["--oss", "--local-provider", "ollama", "--model", model]
        // Its own provider for Ollama sends no key.
        : [
          ...["--config", 'model_provider="quern"'],
          ...["--config", 'model_providers.quern.name="Quern"'],
          ...["--config", `model_providers.quern.base_url=${JSON.stringify(`${url}/v1`)}`],
          ...["--config", 'model_providers.quern.env_key="OPENAI_API_KEY"'],
          ...["--config", 'model_providers.quern.wire_api="responses"'],
          ...["--model", model],
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
              limit: { context: contextLength, output: Math.floor(contextLength / 4) },
            }),
          },
        },
      },
    },
    model: `quern/${model}`,
    small_model: `quern/${model}`,
  };
}
