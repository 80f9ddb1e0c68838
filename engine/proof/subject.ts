// A network by which a device is proved.

import type { Device } from "../../kernels/mod.ts";
import type { Network } from "../nn/mod.ts";
import type { StateFeed, StepRunner } from "../run/mod.ts";

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
