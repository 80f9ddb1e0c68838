// What the commands depend on: the engine, the terminal, the environment, the network.

import type {
  DeviceExamination,
  DeviceTuning,
  FileSource,
  LoadOptions,
  ModelProfile,
  ProfileOptions,
} from "../../engine/mod.ts";
import type { AssembleDependencies } from "../http/mod.ts";
import type { Environment } from "../settings/environment.ts";
import type { Terminal } from "./terminal/terminal.ts";

/** The dependencies of a command, and of a server that it starts in this process. */
export interface CliDependencies extends AssembleDependencies {
  /** The device that computes; undefined if it is not to be examined. */
  device?: {
    examine: () => Promise<DeviceExamination>;
    /** Its name, for people. */
    describe: () => Promise<string>;
    readBandwidth: () => Promise<number>;
    /** Tunes its kernels anew, and keeps what it finds in a folder. */
    tune?: (folder: string, onKernel: (done: number, all: number) => void) => Promise<DeviceTuning>;
  };
  /** Loads a model in this thread and profiles it; undefined if that is not possible. */
  profile?: (
    source: FileSource,
    load: LoadOptions,
    options: ProfileOptions,
  ) => Promise<ModelProfile>;
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
