// Which device computes: opens it, or a dry one of the same kind, which only counts.

import { CpuDevice } from "./cpu/device.ts";
import type { Device, DeviceOptions, DeviceProfile } from "./device.ts";
import { GpuError } from "./errors.ts";
import { type GpuProfile, WebGpuDevice } from "./webgpu/mod.ts";

const KINDS = ["webgpu", "cpu"] as const;

/** Opens a device. Errors: GpuError where there is none, or no such kind. */
export async function openDevice(options: DeviceOptions = {}): Promise<Device> {
  const kind = options.kind ?? (options.gpu ? "webgpu" : kindOfEnvironment());
  if (kind === "webgpu") return await WebGpuDevice.open(options);
  const { threads, clock } = options;
  return await CpuDevice.open({ clock, ...threads !== undefined && { threads } });
}

/** A device that only counts: a model assembled on it shows what it would take of that device. */
export function openDryDevice(profile: DeviceProfile): Device {
  return profile.platform.name === "cpu"
    ? CpuDevice.dry(profile)
    : WebGpuDevice.dry(profile as GpuProfile);
}

function kindOfEnvironment(): typeof KINDS[number] {
  const said = globalThis.Deno?.env.get("QUERN_DEVICE") || "webgpu";
  const kind = KINDS.find((kind) => kind === said);
  if (kind) return kind;
  const kinds = KINDS.map((kind) => `"${kind}"`).join(" or ");
  throw new GpuError(`Cannot open the device of QUERN_DEVICE: "${said}" is not ${kinds}`);
}
