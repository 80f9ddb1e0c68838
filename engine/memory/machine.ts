// What the budget of memory reads of this machine: files of the system, answers of programs, free
// memory. What is not there, may not be read or does not answer is undefined, never an error.

/** Longest that a program may take. A driver in trouble can let it hang. */
const RUN_MILLISECONDS = 5000;

/** A machine, so that tests can have others. */
export interface Machine {
  readonly os: typeof Deno.build.os;
  /** Text of a file. */
  readText(path: string): Promise<string | undefined>;
  /** Names in a folder; none if it is missing. */
  list(folder: string): Promise<string[]>;
  /** What a program writes, if it succeeds. */
  run(program: string, parameters: readonly string[]): Promise<string | undefined>;
  /** Bytes of memory that programs can have without swapping. */
  availableMemory(): number;
}

/** This one. */
export const thisMachine: Machine = {
  os: Deno.build.os,
  readText: (path) => orUndefined(() => Deno.readTextFile(path)),
  async list(folder) {
    const entries = await orUndefined(() => Array.fromAsync(Deno.readDir(folder)));
    return (entries ?? []).map(({ name }) => name).sort();
  },
  async run(program, parameters) {
    const output = await orUndefined(() =>
      new Deno.Command(program, {
        args: [...parameters],
        stdin: "null",
        stderr: "null",
        signal: AbortSignal.timeout(RUN_MILLISECONDS),
      }).output()
    );
    return output?.success ? new TextDecoder().decode(output.stdout) : undefined;
  },
  availableMemory: () => Deno.systemMemoryInfo().available,
};

async function orUndefined<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch {
    return undefined;
  }
}
