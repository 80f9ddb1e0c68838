// The differences between implementations of WebGPU; all other code follows the standard. Deno
// (wgpu, naga) rejects `enable subgroups;` although the built-ins work, and its mapAsync resolves
// after a sleep of 10 ms although the buffer is mapped when the call returns. Dawn, Chrome's,
// follows the standard; in Deno it is 130 MB of native code in the npm package `webgpu`, which is
// only downloaded for QUERN_DEVICE=dawn. It works on the main thread and in workers, each with an
// instance of its own.

import { denoVersion } from "../../host/mod.ts";
import { GpuError } from "../errors.ts";

/** The differences of one implementation. */
export interface Platform {
  readonly name: "deno" | "dawn" | "standard";
  /** Whether WGSL must say `enable subgroups;` to use them. */
  readonly subgroupsDirective: boolean;
  /** Whether mapAsync blocks and then sleeps, so that other work should overlap with the sleep. */
  readonly sleepyMap: boolean;
  /**
   * Whether a dispatch without workgroups is silent. Dawn writes a warning to the standard output.
   */
  readonly emptyDispatches: boolean;
}

const DENO: Platform = {
  name: "deno",
  subgroupsDirective: false,
  sleepyMap: true,
  emptyDispatches: true,
};

const DAWN: Platform = {
  name: "dawn",
  subgroupsDirective: true,
  sleepyMap: false,
  emptyDispatches: false,
};

/** The implementation of a browser, or one that the program brings. */
const STANDARD: Platform = {
  name: "standard",
  subgroupsDirective: true,
  sleepyMap: false,
  emptyDispatches: true,
};

/**
 * The implementation of WebGPU: the runtime's own (Deno's or a browser's) if it has one, or Dawn.
 * Errors: GpuError if Dawn cannot be loaded.
 */
export async function implementation(kind: "webgpu" | "dawn"): Promise<GPU | undefined> {
  return kind === "dawn" ? await loadDawn() : globalThis.navigator?.gpu;
}

/** The platform of `gpu`. It is Deno's only if it is the object that Deno put on `navigator`. */
export function platformOf(gpu: GPU): Platform {
  if (isDawn(gpu)) return DAWN;
  const isDeno = denoVersion() !== undefined && gpu === globalThis.navigator?.gpu;
  return isDeno ? DENO : STANDARD;
}

/** A variable, so that neither an install nor `deno compile` includes the package. */
const DAWN_PACKAGE = "npm:webgpu@0.6.2";

/** Has adapters list experimental features. A device has those that it is asked for. */
const EXPERIMENTS = "enable-dawn-features=allow_unsafe_apis";

/** Milliseconds between two of Dawn's polls of its driver. */
const POLL_INTERVAL = 1;

/** The used exports of the package. */
interface DawnPackage {
  create(options: string[]): GPU;
}

let instance: Promise<GPU> | undefined;

const known = new WeakSet<GPU>();

/** Whether it came from {@linkcode loadDawn}. */
function isDawn(gpu: GPU): boolean {
  return known.has(gpu);
}

/** This thread's Dawn. Errors: GpuError if its package cannot be loaded. */
function loadDawn(): Promise<GPU> {
  instance ??= createDawn();
  return instance;
}

async function createDawn(): Promise<GPU> {
  try {
    const { create }: DawnPackage = await import(DAWN_PACKAGE);
    pollSlowly();
    const gpu = create([EXPERIMENTS]);
    known.add(gpu);
    return gpu;
  } catch (cause) {
    const reason = (cause instanceof Error ? cause.message : String(cause)).split("\n", 1)[0];
    throw new GpuError(
      `Cannot load Dawn, the package ${DAWN_PACKAGE} with native code for this system: ${reason}; ` +
        'set QUERN_DEVICE to "auto", "webgpu" or "cpu" to do without',
      { cause },
    );
  }
}

/**
 * While a promise is pending, Dawn calls `setImmediate` again and again to poll its driver. In Deno
 * each of these calls from native code leaves something behind, and the more there is, the longer
 * its removal takes: 300,000 calls, as in one long compilation, block the thread for minutes. A
 * timer instead of `setImmediate` limits them to one per millisecond.
 */
function pollSlowly(): void {
  const value = (poll: (...args: unknown[]) => void, ...args: unknown[]) =>
    setTimeout(poll, POLL_INTERVAL, ...args);
  Object.defineProperty(globalThis, "setImmediate", { value, configurable: true, writable: true });
}
