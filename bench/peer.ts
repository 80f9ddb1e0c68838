// The interface of programs that are measured beside Quern in bench/peers.ts.

/** Tokens per second. */
export interface Speeds {
  prefill: number;
  decode: number;
}

/** Options for loading a model and asking it. */
export interface PeerOptions {
  readonly threads: number;
  /** Tokens of the context window. */
  readonly window: number;
  /** Tokens of a prompt that are read in one step. */
  readonly chunk: number;
  /** Tokens of an answer. */
  readonly decodeTokens: number;
}

/** A loaded model. */
export interface PeerEngine extends AsyncDisposable {
  /** The program and its version. */
  readonly name: string;
  /** @param isKnown whether the prompt before was the same, so that only the answer is measured */
  measure(prompt: readonly number[], isKnown?: boolean): Promise<Speeds>;
}
