// The environment variables at the end of the main help text. What they do is in settings.ts.

/** Names and what they do, for the help and the doctor. */
export const environmentVariables: readonly (readonly [name: string, effect: string])[] = [
  ["OLLAMA_HOST", "where to serve and to ask (127.0.0.1:11434)"],
  ["OLLAMA_MODELS", "folder of the models (~/.ollama/models)"],
  ["QUERN_MODELS", "the same, and goes before it"],
  ["OLLAMA_KEEP_ALIVE", "how long an idle model stays (5m); -1 for ever"],
  ["OLLAMA_LOAD_TIMEOUT", "how long a load may stand still (5m)"],
  ["OLLAMA_MAX_LOADED_MODELS", "models in memory at a time (as many as fit)"],
  ["OLLAMA_NUM_PARALLEL", "requests that a model answers at a time (4)"],
  ["OLLAMA_CONTEXT_LENGTH", "context window in tokens, if a request names none"],
  ["OLLAMA_GPU_OVERHEAD", "GPU memory to leave free, such as 512MiB (0)"],
  ["QUERN_GPU_MEMORY", "GPU memory, such as 24GB (what the driver says)"],
  ["OLLAMA_MAX_QUEUE", "requests that may wait (512)"],
  ["OLLAMA_ORIGINS", "further origins of web pages, with commas between"],
  ["QUERN_HOSTS", "further names that Host may be, with commas between"],
  ["OLLAMA_NOPRUNE", "keep files that no model uses"],
  ["QUERN_NO_BOX", "leave quern:tiny out of the models"],
  ["OLLAMA_NOHISTORY", "keep no history of what is typed in `run`"],
  ["OLLAMA_DEBUG", "debug lines in the server's log"],
  ["QUERN_LOG", "json: the log as one JSON object per line"],
  ["QUERN_API_KEY", "key that the server asks for, and commands send"],
  ["QUERN_CLOUD_HOST", "server of the models whose names end in :cloud"],
  ["QUERN_CLOUD_KEY", "key for that server"],
  ["QUERN_CLOUD_API", "ollama or openai: its API (it is asked)"],
  ["OLLAMA_REMOTES", "hosts that a remote_host may be (public ones)"],
  ["QUERN_SHUTDOWN_TIMEOUT", "how long requests have at the end (5s)"],
  ["NO_COLOR", "no bold and dim text"],
];

const width = Math.max(...environmentVariables.map(([name]) => name.length));

/** Names and what they do, a line each. */
export const environmentHelp = "\nEnvironment variables, with their defaults:\n" +
  environmentVariables.map(([name, effect]) => `  ${name.padEnd(width)}  ${effect}`).join("\n");
