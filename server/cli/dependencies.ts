// What the commands depend on: the engine, the terminal, the environment, the network.

import type {
  DeviceExamination,
  DeviceTuning,
  DeviceVerdict,
  FileSource,
  LoadOptions,
  ModelProfile,
  Perplexity,
  PerplexityOptions,
  ProfileOptions,
  ProofOptions,
} from "../../engine/mod.ts";
import type { AssembleDependencies } from "../http/mod.ts";
import type { Environment } from "../settings/environment.ts";
import type { Terminal } from "./terminal/terminal.ts";

/** The dependencies of a command, and of a server that it starts in this process. */
export interface CliDependencies extends AssembleDependencies {
  /** The device that computes; undefined if it is not to be examined. */
  device?: {
    /** @param proof where it is kept what was proved of it */
    examine: (proof?: ProofOptions) => Promise<DeviceExamination>;
    /** Its name, for people. */
    describe: () => Promise<string>;
    readBandwidth: () => Promise<number>;
    /** Compares what it computes of a model with what the CPU does, and keeps the result. */
    prove?: (source: FileSource, proof: ProofOptions) => Promise<DeviceVerdict>;
    /** Tunes its kernels anew, and keeps what it finds in a folder. */
    tune?: (folder: string, onKernel: (done: number, all: number) => void) => Promise<DeviceTuning>;
  };
  /** Loads a model in this thread and profiles it; undefined if that is not possible. */
  profile?: (
    source: FileSource,
    load: LoadOptions,
    options: ProfileOptions,
  ) => Promise<ModelProfile>;
  /** Measures a text in this thread; undefined if that is not possible. */
  perplexity?: (
    models: { source: FileSource; against?: FileSource },
    load: LoadOptions & { exact: boolean },
    text: string,
    options: Omit<PerplexityOptions, "against">,
  ) => Promise<Perplexity>;
  /**
   * Runs a program at this terminal, with these variables beside the process's own, and gives its exit
   * code; absent, none can be. Rejects with Deno.errors.NotFound if there is no such program.
   */
  spawn?: (
    program: string,
    args: string[],
    variables: Record<string, string>,
  ) => Promise<number>;
  terminal: Terminal;
  environment: Environment;
}
