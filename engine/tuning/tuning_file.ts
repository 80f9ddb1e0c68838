// The file with what was found out about the kernels of one device, so that the next load begins with
// it. Files that are damaged, or another device's, are as if they were not there, and are told of.

import { createHash } from "node:crypto";
import { join } from "node:path";
import { type KernelCase, keyOf, type TunedKernel } from "../../kernels/mod.ts";

/** How the kernels of a model's device are tuned. */
export interface TuningOptions {
  /** The folder of the files with what was found before, a file for each device. */
  folder: string;
  /** Whether a driver on the CPU is tuned as well. Default false: its usual choices are the best. */
  software?: boolean;
  /** Seconds that tuning may take after one load; what is left is done after the next. Default 5. */
  seconds?: number;
  /** Hears of files that are damaged or cannot be written. */
  warn?: (message: string) => void;
}

/** Raised whenever the file's contents change their meaning. */
const VERSION = 1;

/** The contents of a file. */
interface Kept {
  readonly version: number;
  readonly identity: string;
  kernels: TunedKernel[];
  /** Keys of kernels that are not tuned, because the device failed in the midst of it. */
  left: string[];
  /** Key of the kernel that is being tuned. */
  trying?: string;
}

/** What was found out about one device, in its file. */
export class TuningFile {
  readonly #path: string;
  readonly #identity: string;
  readonly #warn: (message: string) => void;

  constructor(identity: string, { folder, warn = () => {} }: TuningOptions) {
    const digest = createHash("sha256").update(identity).digest("hex").slice(0, 16);
    this.#path = join(folder, `${digest}.json`);
    this.#identity = identity;
    this.#warn = warn;
  }

  /** What the file has; nothing if it is missing, damaged, or another device's. */
  async read(): Promise<Kept> {
    const nothing: Kept = { version: VERSION, identity: this.#identity, kernels: [], left: [] };
    let text: string;
    try {
      text = await Deno.readTextFile(this.#path);
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) this.#tell("read", error);
      return nothing;
    }
    try {
      return checked(JSON.parse(text), this.#identity);
    } catch (error) {
      this.#tell("use", error);
      return nothing;
    }
  }

  /** Changes the file, which other processes may change at the same time. */
  async change(change: (kept: Kept) => void): Promise<void> {
    const kept = await this.read();
    change(kept);
    const part = `${this.#path}.${crypto.randomUUID()}.part`;
    try {
      await Deno.mkdir(join(this.#path, ".."), { recursive: true });
      await Deno.writeTextFile(part, JSON.stringify(kept, null, 1) + "\n");
      await Deno.rename(part, this.#path);
    } catch (error) {
      await Deno.remove(part).catch(() => {});
      this.#tell("write", error);
    }
  }

  /** Keeps a kernel's choice, in place of an earlier one. */
  async add(tuned: TunedKernel): Promise<void> {
    const key = keyOf(tuned.of);
    await this.change((kept) => {
      kept.kernels = [...kept.kernels.filter(({ of }) => keyOf(of) !== key), tuned];
      kept.left = kept.left.filter((one) => one !== key);
      if (kept.trying === key) delete kept.trying;
    });
  }

  /** Lets a kernel be tuned again that was not tuned to its end. */
  async forget(key: string): Promise<void> {
    await this.change((kept) => {
      kept.left = kept.left.filter((one) => one !== key);
    });
  }

  #tell(verb: string, error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error);
    this.#warn(
      `Cannot ${verb} the tuned kernels in "${this.#path}": ${reason}; they are found anew`,
    );
  }
}

/** Errors: TypeError that says what of a file's contents is wrong. */
function checked(value: unknown, identity: string): Kept {
  const { version, identity: own, kernels, left, trying } = record(value);
  if (version !== VERSION) throw new TypeError(`it is of version ${version}`);
  if (own !== identity) throw new TypeError("it is another device's");
  if (!Array.isArray(kernels) || !kernels.every(isTuned)) throw new TypeError("it is damaged");
  const keys: unknown[] = Array.isArray(left) ? left : [];
  // The process that wrote it ended in the midst of that kernel.
  return {
    version,
    identity,
    kernels,
    left: [...keys, trying].filter((key) => typeof key === "string"),
  };
}

/** The kernels that there are. */
const KERNELS: readonly unknown[] = [
  "product",
  "experts",
  "expert pairs",
  "attention",
] satisfies KernelCase[
  "kernel"
][];

function isTuned(value: unknown): value is TunedKernel {
  try {
    const { of, chosen, trials } = record(value);
    const { kernel } = record(of);
    return KERNELS.includes(kernel) && typeof chosen === "string" &&
      Array.isArray(trials) && trials.every((trial) => typeof record(trial).name === "string");
  } catch {
    return false;
  }
}

function record(value: unknown): Record<string, unknown> {
  if (typeof value === "object" && value !== null) return { ...value };
  throw new TypeError("it is damaged");
}
