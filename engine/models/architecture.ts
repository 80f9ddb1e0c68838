// What a file of this folder tells of an architecture: its names, its models, and how it is built.

import type { ModelBuilder } from "../nn/mod.ts";
import type { MtpHead } from "./mtp_head.ts";

/** An architecture. */
export interface Architecture {
  /** Names of well-known models, for people, by each name that the architecture has in GGUF files. */
  readonly models: Readonly<Record<string, string>>;
  /**
   * Whether it makes embeddings, because tokens attend to the whole text; those of others attend to
   * earlier ones, and generate text. Default: false.
   */
  readonly isEncoder?: boolean;
  /** Loads the weights of a model, appends its forward step to the network, and names its output. */
  load(model: ModelBuilder): Promise<void>;
  /**
   * Loads the head for multi-token prediction of a model, with a network of its own. Missing where
   * files have no such head, or what it computes is not known.
   */
  loadMtpHead?(model: ModelBuilder): Promise<MtpHead>;
}
