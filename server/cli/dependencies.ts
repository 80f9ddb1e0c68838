// What the commands get from outside: the engine, the terminal, the environment, the network.

import type {
  BudgetOptions,
  ChatModel,
  FileSource,
  GpuExamination,
  ManagerOptions,
  MemoryBudget,
  ModelInfo,
  OpenOptions,
} from "../../engine/mod.ts";
import type { Environment } from "../settings/environment.ts";
import type { Terminal } from "./terminal/terminal.ts";

/** The world of a command. */
export interface CliDependencies {
  /** Loads the model of its files. */
  open: (source: FileSource, options: OpenOptions) => Promise<ChatModel>;
  /** Reads the header of a file. */
  inspect: (path: string) => Promise<ModelInfo>;
  /** How much memory there is, and what models will take; absent, everything fits. */
  memory?: {
    estimate: NonNullable<ManagerOptions["estimate"]>;
    budget: (options: BudgetOptions) => Promise<MemoryBudget>;
  };
  /** What the GPU is, and how fast it reads, in bytes per second; absent, it is not looked at. */
  gpu?: {
    examine: () => Promise<GpuExamination>;
    readBandwidth: () => Promise<number>;
  };
  terminal: Terminal;
  environment: Environment;
  fetch: typeof globalThis.fetch;
}
