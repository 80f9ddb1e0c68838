// What a new model is asked to be made of, and what is told while it is made.

import type { ModelMessage } from "./modelfile.ts";
import type { Parameters } from "./parameters.ts";

/** A model to be made: from another model, or from files that are blobs of the store. */
export interface CreateRequest {
  /** Name of the new model; a model that has it is replaced. */
  readonly model: string;
  /** Name of the model that it is made from; unknown ones are pulled. */
  readonly from?: string;
  /** Names of files, relative to a folder that they could stand in, with the digests of their blobs. */
  readonly files?: Readonly<Record<string, string>>;
  /** LoRA adapters in GGUF, in the same way. */
  readonly adapters?: Readonly<Record<string, string>>;
  /** Address of the server that has the model `from`: nothing of it is kept here. */
  readonly remoteHost?: string;
  /** Type that the weights are to have, such as "Q4_K_M". */
  readonly quantize?: string;
  /** In the language of Go's templates. */
  readonly template?: string;
  readonly system?: string;
  readonly parameters?: Parameters;
  readonly messages?: readonly ModelMessage[];
  readonly license?: readonly string[];
  readonly requires?: string;
  readonly renderer?: string;
  readonly parser?: string;
  /** What the model's description is to say instead of what its file says. */
  readonly info?: Readonly<Record<string, unknown>>;
}

/** How far it is; sizes in bytes. */
export interface CreateProgress {
  readonly status: string;
  readonly digest?: string;
  readonly total?: number;
  readonly completed?: number;
}

/** Told of all that happens, in order. */
export type Report = (progress: CreateProgress) => void;

/** Brings a model into the store, record by record. */
export type Pull = (name: string, signal: AbortSignal) => AsyncIterable<CreateProgress>;
