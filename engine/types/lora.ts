// The LoRA adapters of requests.

/** A LoRA adapter that a request has. */
export interface LoraChoice {
  /** Its number among those of the model, or its name: `adapters` in the facts of the model. */
  id: number | string;
  /** A factor in addition to the adapter's own scale, from -100 to 100. Default 1. */
  scale?: number;
}

/** The adapters of a request. */
export interface LoraOptions {
  /**
   * The adapters that the request has, and no others. Default: those of the model, with their factors.
   * Errors: RequestError if the model has no such adapter.
   */
  lora?: readonly LoraChoice[];
}
