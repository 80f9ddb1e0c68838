// The file with what was found out about the kernels of one device by timing them, so that the next load
// begins with it.

import { type KernelCase, keyOf, type TunedKernel } from "../../kernels/mod.ts";
import { DeviceFile, type DeviceFileHead, recordOf } from "./device_file.ts";

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
interface Kept extends DeviceFileHead {
  kernels: TunedKernel[];
  /** Keys of kernels that are not tuned, because the device failed in the midst of it. */
  left: string[];
  /** Key of the kernel that is being tuned. */
  trying?: string;
}

/** What was found out about one device, in its file. */
export class TuningFile extends DeviceFile<Kept> {
  constructor(identity: string, { folder, warn }: TuningOptions) {
    super({
      ...{ folder, identity, warn, check },
      ending: ".json",
      what: "the tuned kernels",
      nothing: { version: VERSION, identity, kernels: [], left: [] },
    });
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
}

/** Errors: TypeError that says what of a file's contents is wrong. */
function check(contents: Record<string, unknown>): Kept {
  const { version, identity, kernels, left, trying } = contents as unknown as Kept;
  if (!areTunedKernels(kernels)) throw new TypeError("it is damaged");
  const keys: unknown[] = Array.isArray(left) ? left : [];
  // The process that wrote it ended in the midst of that kernel.
  return {
    version,
    identity,
    kernels,
    left: [...keys, trying].filter((key) => typeof key === "string"),
  };
}

const KERNELS: readonly unknown[] = [
  "product",
  "experts",
  "expert pairs",
  "attention",
] satisfies KernelCase["kernel"][];

/** Whether a value of a file is a list of kernels and the ways that were chosen for them. */
export function areTunedKernels(value: unknown): value is TunedKernel[] {
  return Array.isArray(value) && value.every(isTuned);
}

function isTuned(value: unknown): boolean {
  try {
    const { of, chosen, trials } = recordOf(value);
    const { kernel } = recordOf(of);
    return KERNELS.includes(kernel) && typeof chosen === "string" &&
      Array.isArray(trials) && trials.every((trial) => typeof recordOf(trial).name === "string");
  } catch {
    return false;
  }
}
