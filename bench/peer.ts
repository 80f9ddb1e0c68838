// What a program measured beside Quern in bench/peers.ts is asked.

/** Tokens per second. */
export interface Speeds {
  prefill: number;
  decode: number;
}

/** How a model is loaded and asked. */
export interface PeerOptions {
  readonly threads: number;
  /** Tokens of the context window. */
  readonly window: number;
  /** Tokens of a prompt that are read in one step. */
  readonly chunk: number;
  /** Tokens of an answer. */
  readonly decodeTokens: number;
}

/** A model that is ready to be measured. */
export interface PeerEngine extends AsyncDisposable {
  /** The program and its version. */
  readonly name: string;
  /** @param isKnown whether the prompt before was the same, so that only the answer is measured */
  measure(prompt: readonly number[], isKnown?: boolean): Promise<Speeds>;
}
