// The twin of a loaded model on the CPU: some of its layers with their weights, and what belongs to no
// layer, with the rows of some tokens. The other layers are on a dry device, which only counts, so that
// the operations of both are put together alike.

import { type Device, openDevice, openDryDevice } from "../../kernels/mod.ts";
import { type GgufFile, noTensorBytes, type TensorBytes, TensorReader } from "../gguf/mod.ts";
import type { ChooseTokens, Network, StepLimits } from "../nn/mod.ts";
import type { StateFeed, StepRunner } from "../run/mod.ts";
import type { Placement } from "../weights/mod.ts";
import type { ProvedLayers } from "./layers.ts";

/** Opens the bytes of a file's tensors. */
export type OpenTensors = (gguf: GgufFile) => Promise<TensorBytes>;

/** The options by which a twin is built, besides those of its model. */
export interface TwinOptions {
  readonly limits: StepLimits;
  readonly cacheBlocks: number;
  readonly openTensors: OpenTensors;
  readonly chooseTokens: ChooseTokens;
}

/** Builds the network of a model once more. */
export type BuildTwin = (
  placement: Placement,
  options: TwinOptions,
) => Promise<ProvedNetwork>;

/** Where a twin's tensors are, and how they are read. */
export interface TwinPlacement {
  readonly placementOn: (device: Device) => Placement;
  readonly openTensors: OpenTensors;
}

/** The placement of some layers on a device; the others are on a dry one, without weights. */
export function placementOf(layers: ProvedLayers): TwinPlacement {
  const isWanted = (tensor: string) => {
    const [, layer] = /^(?:v\.)?blk\.(\d+)\./.exec(tensor) ?? [];
    return layer === undefined || layers.has(Number(layer));
  };
  return {
    placementOn(device) {
      const dry = openDryDevice(device.profile);
      return {
        top: device,
        deviceOf: (tensor) => isWanted(tensor) ? device : dry,
        handOver: () => ({ encode() {} }),
      };
    },
    async openTensors(gguf) {
      const reader = await TensorReader.open(gguf);
      const sourceOf = (name: string): TensorBytes => isWanted(name) ? reader : noTensorBytes;
      return {
        chunks: (tensor, ...rest) => sourceOf(tensor.name).chunks(tensor, ...rest),
        read: (tensor, ...rest) => sourceOf(tensor.name).read(tensor, ...rest),
        [Symbol.dispose]: () => reader.close(),
      };
    },
  };
}

/** A model's layers on the CPU. Disposing of it frees all its memory. */
export interface Twin extends ProvedNetwork, Disposable {
  readonly device: Device;
}

/** Opens the twin of a model. Errors: those of loading its model. */
export async function openTwin(
  build: BuildTwin,
  layers: ProvedLayers,
  options: Omit<TwinOptions, "openTensors">,
): Promise<Twin> {
  const device = await openDevice({ kind: "cpu" });
  try {
    const { placementOn, openTensors } = placementOf(layers);
    const built = await build(placementOn(device), { ...options, openTensors });
    await built.network.prepare();
    return { ...built, device, [Symbol.dispose]: () => device[Symbol.dispose]() };
  } catch (error) {
    device[Symbol.dispose]();
    throw error;
  }
}

/** A network and what runs its steps. */
export interface ProvedNetwork {
  readonly network: Network;
  readonly runner: StepRunner;
  /** Tokens that it reads. */
  readonly vocabulary: number;
  /** What a head for multi-token prediction reads besides tokens. */
  readonly states?: StateFeed;
}

/** A network by which its device is proved. */
export interface Subject extends ProvedNetwork {
  readonly device: Device;
  /** Whether a sequence has to run in one step. */
  readonly isEncoder: boolean;
}
