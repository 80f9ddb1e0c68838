// What the memory budget reads of this machine: system files, the output of programs, free memory.
// Whatever is missing, unreadable or does not answer is undefined, never an error.

import {
  fileSystem,
  freeMemory,
  type OperatingSystem,
  operatingSystem,
  processes,
} from "../../host/mod.ts";

/** Milliseconds after which a program is given up. A driver in trouble can make it hang. */
const RUN_MILLISECONDS = 5000;

/** A machine, as an interface, so that tests can simulate others. */
export interface Machine {
  /** Undefined outside of Deno. */
  readonly os: OperatingSystem | undefined;
  /** Text of a file. */
  readText(path: string): Promise<string | undefined>;
  /** Names in a folder; empty if it is missing. */
  list(folder: string): Promise<string[]>;
  /** The output of a program; undefined if it fails. */
  run(program: string, parameters: readonly string[]): Promise<string | undefined>;
  /** Bytes of memory that programs can have without swapping. */
  availableMemory(): number;
}

/** The machine that this program runs on. */
export const thisMachine: Machine = {
  get os() {
    return operatingSystem();
  },
  readText: (path) => orUndefined(() => fileSystem().readTextFile(path)),
  async list(folder) {
    const entries = await orUndefined(() => Array.fromAsync(fileSystem().readDir(folder)));
    return (entries ?? []).map(({ name }) => name).sort();
  },
  async run(program, parameters) {
    const output = await orUndefined(() =>
      new (processes().Command)(program, {
        args: [...parameters],
        stdin: "null",
        stderr: "null",
        signal: AbortSignal.timeout(RUN_MILLISECONDS),
      }).output()
    );
    return output?.success ? new TextDecoder().decode(output.stdout) : undefined;
  },
  availableMemory: freeMemory,
};

async function orUndefined<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch {
    return undefined;
  }
}
