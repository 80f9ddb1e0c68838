// What an answer must be, as a restriction of its tokens: compiles the format of a request for the
// model's vocabulary, once for all requests that ask for the same, and follows one answer.

import type { Tokenizer } from "../../tokenizer/mod.ts";
import { CancelledError } from "../cancellation.ts";
import { EngineError } from "../errors.ts";
import {
  type CompiledSchema,
  compileGrammar,
  compilePattern,
  compileSchema,
  forcedTokens,
  type Matcher,
  SchemaError,
} from "../grammar/mod.ts";
import type { ConstraintFork, TokenConstraint } from "../run/mod.ts";
import type { FormatOptions, OutputFormat } from "../types.ts";
import type { AllowedTokens } from "./logprobs.ts";

/** How the schemas of a format are read. */
type FormatReading = Pick<FormatOptions, "openObjects">;

/** Formats that are kept for a vocabulary: those of the requests of a minute, not of a day. */
const MOST_KEPT = 32;

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

const compiled = new WeakMap<Tokenizer, Map<string, CompiledSchema>>();

/** Follows the tokens of one answer that has to be of a format. */
export class Constraint implements TokenConstraint {
  readonly #format: OutputFormat;
  readonly #compiled: CompiledSchema;
  readonly #matcher: Matcher;
  readonly #tokenizer: Tokenizer;
  readonly #finishes: boolean;
  /** Words of a mask that have end tokens: those tokens' bits. */
  readonly #endBits = new Map<number, number>();
  #failure: Error | undefined;
  #allowed: AllowedTokens | undefined;

  /**
   * @param finishes whether the answer is led to its shortest end when tokens run out
   * @param origin another one of the same format, which it begins where it is; default: at the start
   * @throws SchemaError, GrammarError
   */
  constructor(
    format: OutputFormat,
    tokenizer: Tokenizer,
    finishes: boolean,
    reading: FormatReading = {},
    origin?: Constraint,
  ) {
    this.#format = format;
    this.#compiled = origin ? origin.#compiled : compileFormat(format, tokenizer, reading);
    this.#matcher = origin ? origin.#matcher.fork() : this.#compiled.matcher();
    this.#tokenizer = tokenizer;
    this.#finishes = finishes;
    for (const token of tokenizer.endOfGeneration) {
      const at = token >>> 5;
      this.#endBits.set(at, (this.#endBits.get(at) ?? 0) | 1 << (token & 31));
    }
  }

  /** Whether what masks allow is kept until the next one. */
  keepsMasks = false;

  /** What the last mask allowed, where masks are kept. */
  get allowed(): AllowedTokens | undefined {
    return this.#allowed;
  }

  /** What went wrong, once something has: a document can outgrow the caps of its format. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  mask(remaining: number): Uint32Array<ArrayBuffer> {
    const mask = this.#attempt(() => {
      // What cannot end in time anyway is cut where it is, rather than bent towards its end.
      const isLed = this.#finishes && this.#matcher.mayEndWithin(remaining);
      return this.#matcher.mask(isLed ? { remaining } : {});
    });
    if (mask && this.keepsMasks) this.#allowed = { bits: mask.slice(), forced: this.#forcedText() };
    // Without a mask nothing that comes is accepted.
    return mask ?? new Uint32Array(0);
  }

  forced(most: number): readonly number[] {
    return this.#attempt(() => forcedTokens(this.#matcher, this.#tokenizer, most)) ?? [];
  }

  /** Where it is, to walk along a draft. What fails there is the draft's fault: this one goes on. */
  fork(): ConstraintFork {
    return new Constraint(this.#format, this.#tokenizer, this.#finishes, {}, this);
  }

  #forcedText(): string {
    return decoder.decode(this.#attempt(() => this.#matcher.forced()) ?? new Uint8Array(0));
  }

  /** Takes a token. False where it may not come, or where the constraint has failed. */
  accept(token: number): boolean {
    return this.#attempt(() => this.#matcher.accept(token)) ?? false;
  }

  /** Whether nothing but an end may follow: to run the model for that would be a waste. */
  get mustEnd(): boolean {
    const { isComplete, isEnded } = this.#matcher;
    if (!isComplete || isEnded) return isEnded;
    const mask = this.#attempt(() => this.#matcher.mask());
    return !mask?.some((word, at) => (word & ~(this.#endBits.get(at) ?? 0)) !== 0);
  }

  /** The result; undefined after a failure, which must not end the sequences beside this one. */
  #attempt<T>(action: () => T): T | undefined {
    if (this.#failure) return undefined;
    try {
      return action();
    } catch (error) {
      // Whoever called it off ends the answer.
      if (error instanceof CancelledError) throw error;
      this.#failure = limitError(error);
      forget(this.#compiled, this.#tokenizer);
      return undefined;
    }
  }
}

/** What masks raise, by the class that those who wrote the format can react to. */
function limitError(error: unknown): Error {
  if (error instanceof EngineError) return error;
  const reason = error instanceof Error ? error.message : String(error);
  return new SchemaError("", "", reason, "the format");
}

/** Compiles a format, or finds it compiled. @throws SchemaError, GrammarError */
export function compileFormat(
  format: OutputFormat,
  tokenizer: Tokenizer,
  { openObjects = false }: FormatReading = {},
): CompiledSchema {
  const kept = compiled.get(tokenizer) ?? new Map<string, CompiledSchema>();
  compiled.set(tokenizer, kept);
  const make = () => compile(format, tokenizer, { openObjects });
  const name = keyOf(format);
  if (name === undefined) return make();
  const key = `${openObjects} ${name}`;
  const found = kept.get(key) ?? make();
  // The last one is the one used last.
  kept.delete(key);
  kept.set(key, found);
  if (kept.size > MOST_KEPT) kept.delete(kept.keys().next().value!);
  return found;
}

/** Compiles a format anew for whoever asks next: what has outgrown its caps is of no use to others. */
function forget(one: CompiledSchema, tokenizer: Tokenizer): void {
  const kept = compiled.get(tokenizer);
  for (const [key, other] of kept ?? []) if (other === one) kept?.delete(key);
}

/** The same for equal formats; undefined where a schema nests too deep to be written down. */
function keyOf(format: OutputFormat): string | undefined {
  try {
    return JSON.stringify(format, (_, value) => {
      if (value instanceof Map) return [...value];
      const isBeyond = typeof value === "number" && !Number.isFinite(value);
      return isBeyond ? { number: String(value) } : value;
    });
  } catch (error) {
    if (error instanceof RangeError || error instanceof TypeError) return undefined;
    throw error;
  }
}

function compile(
  format: OutputFormat,
  tokenizer: Tokenizer,
  reading: FormatReading,
): CompiledSchema {
  if (format === "json") return compileSchema({ type: "object" }, tokenizer);
  if ("schema" in format) return compileSchema(format.schema, tokenizer, reading);
  if ("pattern" in format) return compilePattern(format.pattern, tokenizer);
  return compileGrammar(format.grammar, tokenizer, reading);
}
