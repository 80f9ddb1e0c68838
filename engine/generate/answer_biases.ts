// What an answer adds to the logits of tokens: logit_bias, ends that come too early, bad words, DRY. A banned
// token can still come where a format allows no other. On the host, between two tokens; what never changes
// is told to the device once.

import { MOST_BIASES, type TokenBias } from "../../kernels/mod.ts";
import type { Tokenizer } from "../../tokenizer/mod.ts";
import { RequestError } from "../errors.ts";
import type { Biases, TokenConstraint } from "../run/mod.ts";
import { TOKEN_OPTIONS, type TokenOptions } from "../types/mod.ts";
import { Dry } from "./dry.ts";

/** Added to the logit of a banned token: less than any other, but not nothing at all. */
const BAN = -1e9;

/** The biases of one answer. */
class AnswerBiases implements Biases {
  readonly #fixed: ReadonlyMap<number, number>;
  /** Words of several tokens that must not come, each begun by all tokens but its last. */
  readonly #words: readonly (readonly number[])[];
  readonly #ends: readonly number[];
  readonly #minTokens: number;
  readonly #promptLength: number;
  readonly #dry: Dry | undefined;
  #generated = 0;
  #list: readonly TokenBias[] | undefined;

  constructor(
    request: TokenOptions,
    tokenizer: Tokenizer,
    { promptLength, contextLength }: { promptLength: number; contextLength: number },
  ) {
    const fixed = readLogitBias(request.logitBias ?? [], tokenizer);
    const words = (request.badWords ?? []).flatMap((word) => tokensOfWord(word, tokenizer));
    for (const [only, ...others] of words) if (others.length === 0) fixed.set(only!, BAN);
    this.#fixed = fixed;
    this.#words = words.filter(({ length }) => length > 1);
    this.#ends = [...tokenizer.endOfGeneration, ...request.stopTokens ?? []];
    this.#minTokens = request.minTokens ?? 0;
    this.#promptLength = promptLength;
    const needed = fixed.size + this.#ends.length + this.#words.length;
    if (needed > MOST_BIASES) {
      throw new RequestError(
        `Cannot sample: logit_bias and bad_words are about ${needed} tokens, at most ${MOST_BIASES} may be`,
      );
    }
    const { dryMultiplier: multiplier = 0, dryLastN = TOKEN_OPTIONS.dryLastN.default } = request;
    const lastN = dryLastN < 0 ? contextLength : dryLastN;
    if (multiplier > 0 && lastN > 0) {
      const { dryBase, dryAllowedLength, dryBreakers } = TOKEN_OPTIONS;
      const { dryBase: base = dryBase.default } = request;
      const { dryAllowedLength: allowedLength = dryAllowedLength.default } = request;
      const { dryBreakers: breakers = dryBreakers.usual } = request;
      this.#dry = new Dry({ multiplier, base, allowedLength, lastN, breakers }, tokenizer);
    }
  }

  /** Whether nothing is ever added. */
  get areNone(): boolean {
    return this.#fixed.size === 0 && !this.areChanging;
  }

  get areChanging(): boolean {
    return this.#generated < this.#minTokens || this.#words.length > 0 || this.#dry !== undefined;
  }

  after(tokens: readonly number[]): readonly TokenBias[] {
    const wasChanging = this.areChanging;
    this.#generated = tokens.length - this.#promptLength;
    if (this.#list && !wasChanging) return this.#list;
    const all = new Map(this.#fixed);
    if (this.#generated < this.#minTokens) { for (const token of this.#ends) all.set(token, BAN); }
    for (const word of this.#words) {
      const begun = word.slice(0, -1);
      const answer = tokens.slice(Math.max(this.#promptLength, tokens.length - begun.length));
      if (begun.every((token, index) => token === answer[index])) all.set(word.at(-1)!, BAN);
    }
    const repeated = [...this.#dry?.penalties(tokens) ?? []].sort(([, a], [, b]) => b - a);
    for (const [token, penalty] of repeated) {
      if (all.size >= MOST_BIASES) break; // The longest repetitions go first.
      all.set(token, Math.max(BAN, (all.get(token) ?? 0) - penalty));
    }
    this.#list = [...all];
    return this.#list;
  }
}

/**
 * The biases of an answer; undefined if it has none.
 *
 * @throws {RequestError} for a token that is not in the vocabulary, and for too many of them
 */
export function answerBiases(
  ...given: ConstructorParameters<typeof AnswerBiases>
): Biases | undefined {
  const biases = new AnswerBiases(...given);
  return biases.areNone ? undefined : biases;
}

/** The biases by token; those of a text are of each of its tokens. */
function readLogitBias(
  given: NonNullable<TokenOptions["logitBias"]>,
  tokenizer: Tokenizer,
): Map<number, number> {
  const fixed = new Map<number, number>();
  for (const [what, bias] of given) {
    if (Number.isNaN(bias)) {
      throw new RequestError(`Cannot sample: the bias of ${what} is no number`);
    }
    const tokens = typeof what === "string"
      ? tokenizer.encode(what)
      : [checkToken(what, tokenizer)];
    for (const token of tokens) fixed.set(token, Math.min(-BAN, Math.max(BAN, bias)));
  }
  return fixed;
}

/**
 * A constraint by which only these tokens may come.
 *
 * @throws {RequestError} for one that is not in the vocabulary
 */
export function onlyTokens(tokens: readonly number[], tokenizer: Tokenizer): TokenConstraint {
  const bits = new Uint32Array(Math.ceil(tokenizer.vocabularySize / 32));
  for (const token of tokens) bits[checkToken(token, tokenizer) >>> 5]! |= 1 << (token & 31);
  const matcher = { mask: () => bits, forced: () => [] };
  return { ...matcher, fork: () => ({ ...matcher, accept: (token) => tokens.includes(token) }) };
}

/** A token. @throws {RequestError} if there is none of this id */
export function checkToken(token: number, { vocabularySize }: Tokenizer): number {
  if (Number.isInteger(token) && token >= 0 && token < vocabularySize) return token;
  throw new RequestError(
    `Cannot sample: there is no token ${token}, ids of this model are 0 to ${vocabularySize - 1}`,
  );
}

/** The tokens of a word, at the beginning of a text and after a space. */
function tokensOfWord(word: string, tokenizer: Tokenizer): number[][] {
  const letters = word.trimStart() || word;
  return [letters, ` ${letters}`].map((text) => tokenizer.encode(text))
    .filter(({ length }) => length > 0);
}
