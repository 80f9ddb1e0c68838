// What the results and times of kernels depend on, as a text: the device, its driver as far as the
// system tells, the program that talks to it, and the sources of the kernels that have choices. What was
// found out about a device is kept under it.

import {
  changedAt,
  denoVersion,
  namesIn,
  operatingSystem,
  readText,
  systemRelease,
} from "../../host/mod.ts";
import { quantFormats } from "../quants/mod.ts";
import attentionSource from "./attention.wgsl" with { type: "text" };
import mergeSource from "./attention_merge.wgsl" with { type: "text" };
import quadsSource from "./cached_quads.wgsl" with { type: "text" };
import pairsSource from "./expert_pairs.wgsl" with { type: "text" };
import type { GpuProfile } from "./gpu.ts";
import groupSource from "./group.wgsl" with { type: "text" };
import { PRODUCT_TEXTS } from "./linear.ts";

/** The device, its driver as far as it is known, the program that talks to it, and the kernels. */
export function identityOf(
  { description, vendor, device, platform, capabilities }: GpuProfile,
  driver: string = driverIdentity(),
): string {
  const texts = [
    attentionSource,
    mergeSource,
    quadsSource,
    pairsSource,
    ...PRODUCT_TEXTS,
    groupSource,
    ...quantFormats.map(({ snippet }) => snippet),
  ];
  return JSON.stringify({
    device: [description, vendor, device],
    platform: [platform.name, denoVersion() ?? ""],
    driver,
    capabilities,
    kernels: digestOf(texts.join("\0")),
  });
}

/** Folders with the files in which installed Vulkan drivers describe themselves, new in each version. */
const MANIFESTS = ["/usr/share/vulkan/icd.d", "/etc/vulkan/icd.d", "/usr/local/share/vulkan/icd.d"];

/** A text that changes with the version of the driver; empty if the system does not tell. */
export function driverIdentity(): string {
  const system = operatingSystem();
  // On a Mac the driver is a part of the system.
  if (system === "darwin") return systemRelease();
  if (system !== "linux") return "";
  const nvidia = readText("/sys/module/nvidia/version")?.trim() ?? "";
  const manifests = MANIFESTS.flatMap((folder) =>
    (namesIn(folder) ?? []).toSorted().map((name) => `${name} ${changedAt(`${folder}/${name}`)}`)
  );
  return [nvidia, ...manifests].filter(Boolean).join(", ");
}

/** FNV-1a of 32 bits, which shows whether a text changed; not a cryptographic hash. */
function digestOf(text: string): string {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) {
    hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  }
  return (hash >>> 0).toString(16).padStart(8, "0");
}
