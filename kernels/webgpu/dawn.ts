// Dawn, Chrome's implementation of WebGPU, from the npm package `webgpu`: 130 MB of native code
// that Deno only downloads for QUERN_DEVICE=dawn. It works on the main thread and in workers, each
// with an instance of its own.

import { GpuError } from "../errors.ts";

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
export function isDawn(gpu: GPU): boolean {
  return known.has(gpu);
}

/** This thread's Dawn. Errors: GpuError if its package cannot be loaded. */
export function loadDawn(): Promise<GPU> {
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
