// Which device holds which part of a model. A model that fits is on one device as a whole; of one that
// does not, each layer, and each layer's experts, are where their weights are.

import type { Buffer, Device, Operation } from "../../kernels/mod.ts";

/** The devices of a model. */
export interface Placement {
  /** The one with the embeddings, the head and the sampler, by which steps are submitted. */
  readonly top: Device;
  /** Where a tensor is, by its GGUF name. A layer as such is where `blk.N.` is. */
  deviceOf(tensor: string): Device;
  /** Hands the first bytes of a buffer over from the other device; encoded with their number. */
  handOver(buffer: Buffer, to: Device): Pick<Operation, "encode">;
}

/** All of a model on one device. */
export function wholeOn(device: Device): Placement {
  return {
    top: device,
    deviceOf: () => device,
    handOver: () => {
      throw new Error("Cannot hand over a buffer: there is only one device");
    },
  };
}
