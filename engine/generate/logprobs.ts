// Log-probabilities of tokens from logits: on the host and in doubles, for the few answers that ask
// for them.

import { logSumOfExponentials } from "../../kernels/mod.ts";
import type { Tokenizer } from "../../tokenizer/mod.ts";
import { RequestError } from "../errors.ts";
import type {
  RulesInForce,
  TextToken,
  TokenLogprob,
  TokenMask,
  TokenProbability,
} from "../types/mod.ts";

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * Checks the number of most likely tokens to report. Errors: RequestError if it is out of range.
 */
export function checkLogprobs(most: number | undefined, attempt = "generate"): void {
  if (most === undefined || (Number.isInteger(most) && most >= 0)) return;
  throw new RequestError(
    `Cannot ${attempt}: logprobs is ${most}, it must be a whole number from 0 up`,
  );
}

/** The tokens that a format allows at a position. */
export interface AllowedTokens {
  /** Bit t % 32 of word t >> 5 for token t. */
  bits: Uint32Array;
  /** The text that has to come next; empty if there is a choice. */
  forced: string;
  /** The parts of the format in force there. */
  rules: RulesInForce;
}

/**
 * The log-probabilities of a generated token and of others at its position.
 *
 * @param logits [vocabulary]
 * @param most number of most likely tokens to report
 * @param allowed what a format allowed there, if it is to be reported
 */
export function tokenLogprob(
  logits: Float32Array,
  token: number,
  most: number,
  tokenizer: Tokenizer,
  allowed?: AllowedTokens,
): TokenLogprob {
  const normalizer = logSumOfExponentials(logits);
  const tell = (id: number): TokenProbability => {
    const { text, bytes } = textToken(id, tokenizer);
    return { token: text, bytes, logprob: logits[id]! - normalizer };
  };
  const told = { ...tell(token), top: likeliest(logits, most).map(tell) };
  return allowed ? { ...told, mask: tokenMask(logits, Math.max(most, 1), allowed, tell) } : told;
}

/** A token with its text. */
export function textToken(id: number, tokenizer: Tokenizer): TextToken {
  const bytes = tokenizer.hasText ? tokenizer.tokenBytes(id) : new Uint8Array(0);
  return { id, text: decoder.decode(bytes), bytes: [...bytes] };
}

function tokenMask(
  logits: Float32Array,
  most: number,
  { bits, forced, rules }: AllowedTokens,
  tell: (id: number) => TokenProbability,
): TokenMask {
  const isAllowed = (id: number) => (bits[id >>> 5]! >>> (id & 31) & 1) !== 0;
  let allowed = 0;
  for (let id = 0; id < logits.length; id++) if (isAllowed(id)) allowed++;
  return {
    allowed,
    vocabulary: logits.length,
    ...(forced !== "" && { forced }),
    ...rules,
    topAllowed: likeliest(logits, most, isAllowed).map(tell),
    topForbidden: likeliest(logits, most, (id) => !isAllowed(id)).map(tell),
  };
}

/** The most likely of some tokens, in descending order; of equal ones the lower id first. */
export function likeliest(
  logits: Float32Array,
  most: number,
  counts: (token: number) => boolean = () => true,
): number[] {
  const best: number[] = [];
  for (let token = 0; token < logits.length; token++) {
    if (best.length >= most && !(logits[token]! > logits[best.at(-1) ?? token]!)) continue;
    if (!counts(token)) continue;
    let rank = best.length;
    while (rank > 0 && logits[best[rank - 1]!]! < logits[token]!) rank--;
    best.splice(rank, 0, token);
    if (best.length > most) best.pop();
  }
  return best;
}

// Finds the tokens of each piece of an answer that a parser has divided. Marks and the white space
// around them are in no piece, and a piece may come long after its tokens.

/** The tokens whose text has not been given out yet. */
export class TokenQueue {
  #text = "";
  #entries: { start: number; end: number; logprobs: readonly TokenLogprob[] }[] = [];

  /** Adds tokens and their text. */
  add(text: string, logprobs: readonly TokenLogprob[]): void {
    const start = this.#text.length;
    this.#text += text;
    this.#entries.push({ start, end: this.#text.length, logprobs });
  }

  /** Skips a mark, if it comes next, because it is in no piece. */
  skip(mark: string): void {
    const at = this.#text.indexOf(mark);
    if (at >= 0) this.#forget(at + mark.length);
  }

  /** The tokens of a piece that is given out. Tokens before it are dropped. */
  take(piece: string): TokenLogprob[] {
    const at = this.#text.indexOf(piece);
    // A piece may contain white space from before a mark. Then all tokens are taken.
    const [first, last] = at < 0 ? [0, this.#text.length] : [at, at + piece.length];
    const taken = this.#entries.filter(({ start, end }) => start < last && end > first);
    this.#entries = this.#entries.filter(({ start }) => start >= last);
    this.#forget(last);
    return taken.flatMap(({ logprobs }) => logprobs);
  }

  /** Drops all tokens so far. */
  clear(): void {
    this.#forget(this.#text.length);
  }

  #forget(length: number): void {
    this.#text = this.#text.slice(length);
    this.#entries = this.#entries
      .filter(({ end }) => end > length)
      .map(({ start, end, logprobs }) => ({ start: start - length, end: end - length, logprobs }));
  }
}
