// What a device computes wrongly of a model, as a load finds it out.

import { assemble, describeModel } from "../../../engine/load/mod.ts";
import { readGguf } from "../../../engine/gguf/mod.ts";
import type { DeviceFault } from "../../../engine/tuning/mod.ts";
import { viewAsDecoder } from "../../../engine/vision/mod.ts";
import { wholeOn } from "../../../engine/weights/mod.ts";
import type { LoadOptions } from "../../../engine/types/mod.ts";
import type { Device } from "../../../kernels/mod.ts";
import { type TinyOptions, writeTinyLlama } from "../../tiny_model.ts";

/** Loads a model on a device, which is closed then, and proves it, with what drafts and sees for it. */
export async function faultsOf(
  path: string | URL,
  open: () => Promise<Device>,
  options: Pick<LoadOptions, "draft" | "projector"> = {},
): Promise<readonly DeviceFault[]> {
  const folder = await Deno.makeTempDir();
  try {
    const gguf = viewAsDecoder(await readGguf(path));
    using device = await open();
    const assembly = await assemble(gguf, describeModel(gguf), wholeOn(device), {
      ...{ contextLength: 512, maxSequences: 4, ...options },
      proof: { folder, version: "1" },
    });
    try {
      return await assembly.faults();
    } finally {
      await assembly.scheduler.close();
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Faults found with a tiny model of weights of this type, and of other sizes. */
export async function tinyFaults(
  open: () => Promise<Device>,
  type = "Q8_0",
  sizes: TinyOptions = {},
): Promise<readonly DeviceFault[]> {
  const path = await Deno.makeTempFile({ suffix: ".gguf" });
  try {
    await writeTinyLlama(path, { type, layers: 3, context: 512, ...sizes });
    return await faultsOf(path, open);
  } finally {
    await Deno.remove(path);
  }
}
