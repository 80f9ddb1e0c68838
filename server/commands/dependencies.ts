// What the commands get from outside: the engine, the terminal, the environment, the network.

import type { ChatModel, LoadOptions, ModelInfo } from "../../engine/mod.ts";
import type { Environment } from "../settings.ts";
import type { Terminal } from "../terminal/terminal.ts";

/** The world of a command. */
export interface CliDependencies {
  /** Loads the model of a file. */
  open: (path: string, options: LoadOptions) => Promise<ChatModel>;
  /** Reads the header of a file. */
  inspect: (path: string) => Promise<ModelInfo>;
  terminal: Terminal;
  environment: Environment;
  fetch: typeof globalThis.fetch;
}
