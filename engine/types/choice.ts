// How a program has a say in the choice of tokens: functions over the row of logits. Functions run in the
// program's own thread, wherever the model is; requests over HTTP have none.

/** Where a token is chosen. */
export interface ChoiceContext {
  /** The tokens before it: the prompt's, then the answer's. Not to be changed. */
  readonly tokens: readonly number[];
  /** How many of them are the prompt's. */
  readonly promptLength: number;
  /**
   * The tokens that the format of the answer allows: bit t of word t >> 5 for token t. It applies after the
   * function. Missing: all may come.
   */
  readonly mask?: Uint32Array;
}

/**
 * Changes the logits of the next token in place, or gives others back: [vocabulary], as the model computed
 * them or as the function before left them. -Infinity: the token does not come.
 */
export type LogitsProcessor = (
  logits: Float32Array,
  context: ChoiceContext,
) => Float32Array | void | Promise<Float32Array | void>;

/**
 * Chooses the next token from its logits, [vocabulary], after processors, penalties and biases; those of
 * tokens that the format forbids are -Infinity.
 */
export type TokenSampler = (
  logits: Float32Array,
  context: ChoiceContext,
) => number | Promise<number>;

/** Functions that have a say in the choice of each token. With any, nothing is drafted. */
export interface ChoiceOptions {
  /**
   * Functions that change the logits of each token, one after the other. Then come penalties, biases, the
   * format's mask and the sampler, on the device: an answer stays within its format whatever they do.
   * Meanwhile the sequences of the same step wait. What a function throws ends the answer with that error.
   * `logprobs` are still the model's own.
   */
  logitsProcessors?: readonly LogitsProcessor[];
  /**
   * Chooses the tokens in the place of temperature, top_k and the other options of sampling. Errors:
   * RequestError for a token that may not come.
   */
  sampler?: TokenSampler;
}
