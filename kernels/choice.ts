// Chooses the device that computes, and opens it: the one in QUERN_DEVICE, or else a GPU if the
// machine has one, or else the CPU. QUERN_GPU names one of several GPUs (webgpu/adapters.ts).
// WebGPU drivers that run on the CPU are slower than the CPU device, so they are only used on
// request. On Linux WebGPU is not tried unless there is the device file of a GPU, because trying
// loads the drivers into the process.

import { mayRead, namesIn, operatingSystem, readVariable } from "../host/mod.ts";
import type { Device, DeviceMaker, DeviceProfile, DeviceSettings } from "./device.ts";
import * as devices from "./devices.ts";
import { GpuError } from "./errors.ts";
import type { AdapterFacts } from "./webgpu/adapter_facts.ts";
import { askedGpu, findAdapter } from "./webgpu/adapters.ts";

/** A kind of device: its name in QUERN_DEVICE. */
export type DeviceKind = keyof typeof devices;

/** All kinds. */
export const DEVICE_KINDS: readonly DeviceKind[] = Object.keys(devices) as DeviceKind[];

/** The options of openDevice(). */
export interface DeviceOptions extends DeviceSettings {
  /** What computes. Default: QUERN_DEVICE, or else a GPU if there is one, or else the CPU. */
  kind?: DeviceKind;
}

/** The chosen device, and the reason as a clause for people. */
export interface DeviceChoice {
  readonly kind: DeviceKind;
  readonly reason: string;
}

/**
 * The facts on which a choice depends, as an interface, so that tests can simulate other machines.
 */
export interface Surroundings {
  /** The value of QUERN_DEVICE; empty if it is not set. */
  readonly asked: string;
  /** The value of QUERN_GPU, the name of a GPU; empty if it is not set. */
  readonly askedGpu: string;
  /** Device files of GPUs; undefined if the system has no such files or does not show them. */
  gpuFiles(): readonly string[] | undefined;
  /** The adapter that WebGPU would take. Errors: GpuError if `askedGpu` names none. */
  adapter(): Promise<AdapterFacts | undefined>;
}

/**
 * Chooses the device that {@linkcode openDevice} opens with the same options.
 *
 * @throws {GpuError} if QUERN_DEVICE is not the name of a device, or QUERN_GPU not that of a GPU
 */
export async function chooseDevice(
  options: DeviceOptions = {},
  surroundings: Surroundings = thisProcess(options),
): Promise<DeviceChoice> {
  if (options.kind) return { kind: options.kind, reason: "as the program asks" };
  if (options.gpu) return { kind: "webgpu", reason: "the program brings a WebGPU of its own" };
  const asked = surroundings.asked.toLowerCase() || "auto";
  if (asked === "auto") return await chooseFreely(surroundings);
  const kind = DEVICE_KINDS.find((name) => name === asked);
  if (kind) return { kind, reason: "as QUERN_DEVICE says" };
  const names = ["auto", ...DEVICE_KINDS].map((name) => `"${name}"`);
  throw new GpuError(
    `Cannot open the device of QUERN_DEVICE, "${surroundings.asked}": ` +
      `it is not ${names.slice(0, -1).join(", ")} or ${names.at(-1)}`,
  );
}

async function chooseFreely(
  { askedGpu, gpuFiles, adapter }: Surroundings,
): Promise<DeviceChoice> {
  if (askedGpu !== "" && await adapter()) return { kind: "webgpu", reason: "as QUERN_GPU says" };
  const files = gpuFiles();
  if (files?.length === 0) return { kind: "cpu", reason: "this machine has no GPU" };
  const found = await adapter();
  if (!found) return { kind: "cpu", reason: "WebGPU finds no GPU" };
  return found.software
    ? { kind: "cpu", reason: `faster than ${found.description}, all that WebGPU finds` }
    : { kind: "webgpu", reason: "WebGPU finds a GPU" };
}

/** The facts of this process and its machine. */
function thisProcess({ gpu }: DeviceOptions): Surroundings {
  return {
    asked: readVariable("QUERN_DEVICE"),
    askedGpu: askedGpu(),
    gpuFiles: findGpuFiles,
    adapter: () => findAdapter(gpu),
  };
}

/**
 * The device files through which drivers reach GPUs: those of Mesa, NVIDIA, phones, and Windows in
 * a WSL.
 */
const GPU_FILES: Record<string, RegExp> = {
  "/dev/dri": /^renderD\d+$/,
  "/dev": /^(?:nvidia(?:\d+|ctl)|nvhost-gpu|kgsl-3d\d+|mali\d+|dxg)$/,
};

/** Device files of GPUs; undefined if the system has no such files or does not show them. */
export function findGpuFiles(): string[] | undefined {
  if (operatingSystem() !== "linux" || !mayRead("/dev")) return undefined;
  return Object.entries(GPU_FILES).flatMap(([folder, pattern]) =>
    (namesIn(folder) ?? []).filter((name) => pattern.test(name)).map((name) => `${folder}/${name}`)
  );
}

/** Opens a device. Errors: GpuError if there is none of the kind. */
export async function openDevice(options: DeviceOptions = {}): Promise<Device> {
  const { kind } = await chooseDevice(options);
  return await devices[kind].open(options);
}

/**
 * The profile of the device that {@linkcode openDevice} would open. A GPU is opened for this, since
 * an adapter may not show all that its devices can do.
 */
export async function readDeviceProfile(options: DeviceOptions = {}): Promise<DeviceProfile> {
  const { kind } = await chooseDevice(options);
  return await devices[kind].profileOf(options);
}

/**
 * A dry device, which only counts: a model assembled on it shows how much memory it would take on a
 * device of that profile.
 */
export function openDryDevice(profile: DeviceProfile): Device {
  const { name } = profile.platform; // a kind, or an implementation of WebGPU
  const maker: DeviceMaker = name in devices ? devices[name as DeviceKind] : devices.webgpu;
  return maker.dry(profile);
}
