// Which device computes: what QUERN_DEVICE says; where it says nothing, or "auto", a GPU where the
// machine has one, else the CPU. A driver that plays a GPU on the CPU is slower than the CPU device,
// so it is taken only where it is asked for. On Linux WebGPU is not even asked where no device file
// of a GPU is there, since asking loads the Vulkan and OpenGL libraries into the process.

import type { DeviceKind, DeviceOptions } from "./device.ts";
import { GpuError } from "./errors.ts";
import { mayRead, namesIn, readVariable } from "./process.ts";
import { type AdapterFacts, findAdapter } from "./webgpu/platform.ts";

/** What computes, and why, as a clause for people. */
export interface DeviceChoice {
  readonly kind: DeviceKind;
  readonly reason: string;
}

/** What a choice depends on, so that tests can have other machines. */
export interface Surroundings {
  /** What QUERN_DEVICE says; empty where it is not set. */
  readonly asked: string;
  /** Device files of GPUs, or undefined where the system has no such files or does not show them. */
  gpuFiles(): readonly string[] | undefined;
  /** The adapter that WebGPU would take. */
  adapter(): Promise<AdapterFacts | undefined>;
}

/**
 * Chooses the device that {@linkcode openDevice} opens with the same options.
 *
 * @throws {GpuError} if QUERN_DEVICE says what no device is called
 */
export async function chooseDevice(
  options: DeviceOptions = {},
  surroundings: Surroundings = thisProcess(options),
): Promise<DeviceChoice> {
  if (options.kind) return { kind: options.kind, reason: "as the program asks" };
  if (options.gpu) return { kind: "webgpu", reason: "the program brings a WebGPU of its own" };
  const asked = surroundings.asked.toLowerCase() || "auto";
  if (asked === "auto") return await chooseFreely(surroundings);
  if (asked === "webgpu" || asked === "dawn" || asked === "cpu") {
    return { kind: asked, reason: "as QUERN_DEVICE says" };
  }
  throw new GpuError(
    `Cannot open the device of QUERN_DEVICE, "${surroundings.asked}": ` +
      'it is not "auto", "webgpu", "dawn" or "cpu"',
  );
}

async function chooseFreely({ gpuFiles, adapter }: Surroundings): Promise<DeviceChoice> {
  const files = gpuFiles();
  if (files?.length === 0) return { kind: "cpu", reason: "this machine has no GPU" };
  const found = await adapter();
  if (!found) return { kind: "cpu", reason: "WebGPU finds no GPU" };
  return found.software
    ? { kind: "cpu", reason: `faster than ${found.description}, all that WebGPU finds` }
    : { kind: "webgpu", reason: "WebGPU finds a GPU" };
}

/** This process on its machine. */
function thisProcess({ gpu }: DeviceOptions): Surroundings {
  return {
    asked: readVariable("QUERN_DEVICE"),
    gpuFiles: findGpuFiles,
    adapter: () => findAdapter(gpu ?? globalThis.navigator?.gpu),
  };
}

/** By which drivers reach GPUs: Mesa's, NVIDIA's, those of phones' chips, Windows's in a WSL. */
const GPU_FILES: Record<string, RegExp> = {
  "/dev/dri": /^renderD\d+$/,
  "/dev": /^(?:nvidia(?:\d+|ctl)|nvhost-gpu|kgsl-3d\d+|mali\d+|dxg)$/,
};

/** Device files of GPUs; undefined where the system has no such files or does not show them. */
export function findGpuFiles(): string[] | undefined {
  if (globalThis.Deno?.build.os !== "linux" || !mayRead("/dev")) return undefined;
  return Object.entries(GPU_FILES).flatMap(([folder, pattern]) =>
    (namesIn(folder) ?? []).filter((name) => pattern.test(name)).map((name) => `${folder}/${name}`)
  );
}
