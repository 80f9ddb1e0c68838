// What a model will take of the GPU, from the headers of its files alone: the model is assembled as
// for a load, on a device that only counts. So the numbers are those of the load by construction.

import { type Device, type DeviceProfile, openDryDevice } from "../../kernels/mod.ts";
import { assemble, describeModel } from "../load/mod.ts";
import { type GgufFile, noTensorBytes, readGguf } from "../gguf/mod.ts";
import type { ModelSource } from "../store/types.ts";
import type { LoadOptions, MemoryUse } from "../types.ts";
import { usableProjector, viewAsDecoder } from "../vision/mod.ts";
import { gpuProfile } from "./gpu_profile.ts";

/** The files of a model. */
export type FileSource = Extract<ModelSource, { kind: "files" }>;

/** What a model takes if it is loaded with these options. */
export type Estimate = (options: LoadOptions) => Promise<MemoryEstimate>;

/** What a load will take. */
export interface MemoryEstimate {
  memory: MemoryUse;
  /** Window that the model will have, in tokens. */
  contextLength: number;
  /** Sequences that can run at the same time. */
  maxSequences: number;
}

/**
 * What a model will take if it is loaded with these options; no weight is read, nothing allocated.
 *
 * @param model a path, or a header that has been read
 * @param profile of the GPU; default: of the one that loads use
 * @throws as loadModel() does where the fault shows without the weights
 */
export async function estimateMemory(
  model: string | URL | GgufFile,
  options: LoadOptions = {},
  profile?: DeviceProfile,
): Promise<MemoryEstimate> {
  const isPath = typeof model === "string" || model instanceof URL;
  const gguf = viewAsDecoder(isPath ? await readGguf(model) : model);
  using device = openDryDevice(profile ?? await gpuProfile());
  const { onProgress: _, ...rest } = options;
  const { contextLength, maxSequences, vision } = await assemble(
    gguf,
    describeModel(gguf),
    device,
    {
      ...rest,
      largestImage: true,
      openTensors: () => Promise.resolve(noTensorBytes),
    },
  );
  return {
    memory: memoryUse(device, ...vision?.encoder.devices ?? []),
    contextLength,
    maxSequences,
  };
}

/**
 * Estimates of one model, whose header is read once. Errors: as of {@linkcode estimateMemory}.
 *
 * @param profile of the GPU; default: of the one that loads use
 */
export async function createEstimate(
  source: FileSource,
  profile?: DeviceProfile,
): Promise<Estimate> {
  const { path, adapters } = source;
  const gguf = await readGguf(path);
  const added = adapters.map((adapter) => ({ path: adapter }));
  const projector = await usableProjector(source, gguf);
  return (options) => estimateMemory(gguf, { ...options, ...projector, adapters: added }, profile);
}

/** What lies on devices, by what it is for. */
export function memoryUse(
  ...devices: readonly Pick<Device, "allocated" | "profile">[]
): MemoryUse {
  const bytes = (purpose: string) =>
    devices.reduce((sum, { allocated }) => sum + (allocated.get(purpose) ?? 0), 0);
  const onCpu = devices[0]?.profile.platform.name === "cpu";
  return {
    weights: bytes("weights"),
    keyValueCache: bytes("cache") + bytes("state"),
    scratch: bytes("scratch"),
    ...onCpu && { onCpu },
  };
}

/** All of it together, in bytes. */
export function totalOf({ weights, keyValueCache, scratch }: MemoryUse): number {
  return weights + keyValueCache + scratch;
}
