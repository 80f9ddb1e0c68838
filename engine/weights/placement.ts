// Which device holds which part of a model. A model that fits is on one device as a whole.
// Otherwise each layer, and each layer's experts, are where their weights are.

import type { Buffer, Device, Operation } from "../../kernels/mod.ts";

/** The devices of a model. */
export interface Placement {
  /** The device with the embeddings, the head and the sampler, to which steps are submitted. */
  readonly top: Device;
  /** The device of a tensor, by its GGUF name. The device of a layer is that of `blk.N.`. */
  deviceOf(tensor: string): Device;
  /** Transfers the first bytes of a buffer from the other device. Encoded with their number. */
  handOver(buffer: Buffer, to: Device): Pick<Operation, "encode">;
}

/** The placement of a model on one device. */
export function wholeOn(device: Device): Placement {
  return {
    top: device,
    deviceOf: () => device,
    handOver: () => {
      throw new Error("Cannot hand over a buffer: there is only one device");
    },
  };
}
