// The devices that loads use: their profiles, and whether the GPU is the faster one. Both are found out
// once per process.

import {
  fileSystem,
  freeMemory,
  type OperatingSystem,
  operatingSystem,
  processes,
} from "../../host/mod.ts";
import { type DeviceProfile, readDeviceProfile } from "../../kernels/mod.ts";
import { measureReadBandwidth } from "../load/mod.ts";

/** The devices of loads: one for layers on the GPU, and one for the other layers. */
export interface DeviceProfiles {
  gpu: DeviceProfile;
  /** Missing if the first one is the CPU, which then has all layers. */
  cpu?: DeviceProfile;
}

let profile: Promise<DeviceProfile> | undefined;

/** Capabilities and limits of the device that loads use. Errors: GpuError if there is none. */
export function gpuProfile(): Promise<DeviceProfile> {
  const known = profile ??= readDeviceProfile();
  // A failure is not remembered, because the GPU may be there at the next attempt.
  known.catch(() => profile = undefined);
  return known;
}

/** That device, and the CPU beside it. Errors: GpuError if there is no device. */
export async function deviceProfiles(): Promise<DeviceProfiles> {
  const gpu = await gpuProfile();
  if (gpu.platform.name === "cpu") return { gpu };
  return { gpu, cpu: await readDeviceProfile({ kind: "cpu" }) };
}

let faster: Promise<boolean> | undefined;

/**
 * Whether the device of loads reads its memory faster than the CPU beside it, which bounds the speed of
 * decoding: if not, splitting a model between the two is not worthwhile. Measured on the first call, so
 * only if a model does not fit the GPU.
 */
export function isGpuFaster(): Promise<boolean> {
  return faster ??= compare();
}

async function compare(): Promise<boolean> {
  // A software driver is only used if the user asked for it, so it gets its layers.
  if ((await gpuProfile()).capabilities.software) return true;
  const cpu = await measureReadBandwidth({ kind: "cpu" });
  return await measureReadBandwidth() > cpu;
}

// What the memory budget reads of this machine: system files, the output of programs, free memory.
// Whatever is missing, unreadable or does not answer is undefined, never an error.

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
