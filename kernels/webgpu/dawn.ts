// Dawn, Chrome's implementation of WebGPU, by the npm package `webgpu`: 130 MB of native code that
// Deno downloads when QUERN_DEVICE=dawn asks for it, and never otherwise. It works on the main thread
// and in workers, in each with an instance of its own.

import { GpuError } from "../errors.ts";

/** Named in a variable, so that neither an install nor `deno compile` takes the package along. */
const DAWN_PACKAGE = "npm:webgpu@0.6.2";

/** Milliseconds between two questions of Dawn to its driver. */
const POLL_INTERVAL = 1;

/** What the package exports, as far as it is used. */
interface DawnPackage {
  create(options: string[]): GPU;
}

let instance: Promise<GPU> | undefined;

const known = new WeakSet<GPU>();

/** Whether this is what {@linkcode loadDawn} gave. */
export function isDawn(gpu: GPU): boolean {
  return known.has(gpu);
}

/** This thread's Dawn. Errors: GpuError where its package cannot be loaded. */
export function loadDawn(): Promise<GPU> {
  instance ??= createDawn();
  return instance;
}

async function createDawn(): Promise<GPU> {
  try {
    const { create }: DawnPackage = await import(DAWN_PACKAGE);
    pollSlowly();
    const gpu = create([]);
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
 * While a promise of Dawn is open, Dawn calls `setImmediate` again and again to ask its driver. In
 * Deno each of these calls from native code leaves something behind, and clearing it away takes
 * longer the more there is: 300,000 calls, which one long compilation makes, block the thread for
 * minutes. A timer in place of `setImmediate` keeps them to one a millisecond.
 */
function pollSlowly(): void {
  const value = (poll: (...args: unknown[]) => void, ...args: unknown[]) =>
    setTimeout(poll, POLL_INTERVAL, ...args);
  Object.defineProperty(globalThis, "setImmediate", { value, configurable: true, writable: true });
}
