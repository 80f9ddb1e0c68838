// The memory that a model will take, from the headers of its files alone. The model is assembled as
// for a load, on a dry device, which only counts. So the numbers are those of the load by
// construction.

import { type Device, openDryDevice, type WorkingMemory } from "../../kernels/mod.ts";
import {
  assemble,
  describeModel,
  devicesFor,
  type Layout,
  layoutOf,
  type ModelDevices,
  place,
} from "../load/mod.ts";
import { type GgufFile, noTensorBytes, readGguf } from "../gguf/mod.ts";
import type { ModelSource } from "../store/types.ts";
import type { LoadOptions, MemoryUse } from "../types/mod.ts";
import { isSpeechArchitecture, SpeechNetwork, speechOptions } from "../speech/mod.ts";
import { usableProjector, viewAsDecoder } from "../vision/mod.ts";
import { type DeviceProfiles, deviceProfiles } from "./devices.ts";

/** The files of a model. */
export type FileSource = Extract<ModelSource, { kind: "files" }>;

/** Estimates the memory of a model loaded with these options. */
export type Estimate = (options: LoadOptions) => Promise<MemoryEstimate>;

/** The memory that a load will take. */
export interface MemoryEstimate {
  memory: MemoryUse;
  /** Window that the model will have, in tokens. */
  contextLength: number;
  /** Sequences that can run at the same time. Missing for encoders, which keep none between steps. */
  maxSequences?: number;
  /** Most tokens of a prompt in a step; missing where that is not asked. */
  chunkSize?: number;
  /**
   * What it takes of the memory that the CPU's operations work in, and how much there is of it,
   * whatever the machine has. Missing if it is on a GPU alone.
   */
  working?: WorkingMemory;
  /** The parts of it that can be on a GPU beside the CPU; missing if there are not both. */
  layout?: Layout;
}

/**
 * The memory that a model will take if it is loaded with these options. No weight is read and
 * nothing is allocated.
 *
 * @param model a path, or a header that was read
 * @param profiles default: those of the devices that loads use
 * @throws the errors of loadModel() that show without the weights
 */
export async function estimateMemory(
  model: string | URL | GgufFile,
  options: LoadOptions = {},
  profiles?: DeviceProfiles,
): Promise<MemoryEstimate> {
  const isPath = typeof model === "string" || model instanceof URL;
  const gguf = viewAsDecoder(isPath ? await readGguf(model) : model);
  const known = profiles ?? await deviceProfiles();
  using devices = dryDevices(gguf, known, options);
  if (isSpeechArchitecture(String(gguf.metadata["general.architecture"]))) {
    const { sizes } = await SpeechNetwork.load(gguf, devices.placement, {
      ...speechOptions(options),
      openTensors: () => Promise.resolve(noTensorBytes),
    });
    const working = devices.all.find((device) => device.workingMemory)?.workingMemory;
    return {
      memory: memoryUse(...devices.all),
      contextLength: sizes.context,
      maxSequences: 1,
      ...working && { working },
      ...known.cpu && { layout: layoutOf(gguf) },
    };
  }
  const { onProgress: _, ...rest } = options;
  const { contextLength, maxSequences, chunkSize, encoder, vision, hearing } = await assemble(
    gguf,
    describeModel(gguf),
    devices.placement,
    {
      ...rest,
      largestImage: true,
      openTensors: () => Promise.resolve(noTensorBytes),
    },
  );
  const working = devices.all.find((device) => device.workingMemory)?.workingMemory;
  return {
    memory: memoryUse(
      ...devices.all,
      ...vision?.encoder.devices ?? [],
      ...hearing?.encoder.devices ?? [],
    ),
    contextLength,
    ...!encoder && { maxSequences },
    chunkSize,
    ...working && { working },
    ...known.cpu && { layout: layoutOf(gguf) },
  };
}

function dryDevices(
  gguf: GgufFile,
  { gpu, cpu }: DeviceProfiles,
  options: LoadOptions,
): ModelDevices {
  const layout = layoutOf(gguf);
  if (!cpu) return place({ gpu: openDryDevice(gpu) }, layout);
  const needed = devicesFor(layout, options);
  return place(
    {
      gpu: needed.gpu ? openDryDevice(gpu) : undefined,
      cpu: needed.cpu ? openDryDevice(cpu) : undefined,
    },
    layout,
    options,
  );
}

/**
 * Estimates of one model, whose header is read once. Errors: those of {@linkcode estimateMemory}.
 *
 * @param profiles default: those of the devices that loads use
 */
export async function createEstimate(
  source: FileSource,
  profiles?: DeviceProfiles,
): Promise<Estimate> {
  const { path, adapters } = source;
  const gguf = await readGguf(path);
  const added = adapters.map((adapter) => ({ path: adapter }));
  const projector = await usableProjector(source, gguf);
  return (options) => estimateMemory(gguf, { ...options, ...projector, adapters: added }, profiles);
}

/** The allocated bytes of devices, by purpose. */
export function memoryUse(
  ...devices: readonly Pick<Device, "allocated" | "profile">[]
): MemoryUse {
  const bytes = (purpose: string) =>
    devices.reduce((sum, { allocated }) => sum + (allocated.get(purpose) ?? 0), 0);
  const onCpu = devices.filter(({ profile }) => profile.platform.name === "cpu")
    .flatMap(({ allocated }) => [...allocated.values()])
    .reduce((sum, bytes) => sum + bytes, 0);
  return {
    weights: bytes("weights"),
    keyValueCache: bytes("cache") + bytes("state"),
    scratch: bytes("scratch"),
    ...onCpu > 0 && { onCpu },
  };
}

/** The sum of all parts, in bytes. */
export function totalOf({ weights, keyValueCache, scratch }: MemoryUse): number {
  return weights + keyValueCache + scratch;
}

/** A size for people: "8.0 GiB", or "512.0 MiB" for sizes below one GiB. */
export function formatSize(bytes: number): string {
  const [unit, name] = bytes >= 2 ** 30 ? [2 ** 30, "GiB"] : [2 ** 20, "MiB"];
  return `${(bytes / unit).toFixed(1)} ${name}`;
}
