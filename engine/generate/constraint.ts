// The format of an answer as a restriction of its tokens: compiles the format of a request for the
// model's vocabulary, once for all requests with the same format, and follows one answer.

import { isJsonNumber, rawNumber, type Tokenizer } from "../../tokenizer/mod.ts";
import { CancelledError } from "../cancellation.ts";
import { EngineError, RequestError } from "../errors.ts";
import {
  type CompiledSchema,
  compileGrammar,
  compilePattern,
  compileSchema,
  DeadEndError,
  forcedTokens,
  type Matcher,
  type OpenDocument,
  openDocument,
  SchemaError,
  schemaRules,
  TextRules,
  warningText,
} from "../grammar/mod.ts";
import type { ConstraintFork, TokenConstraint } from "../run/mod.ts";
import type { FormatOptions, OutputFormat, RulesInForce } from "../types/mod.ts";
import type { AllowedTokens } from "./logprobs.ts";

/** The options that change how a format's schemas are read. */
type FormatReading = Pick<FormatOptions, "openObjects">;

/**
 * What becomes of an answer when tokens run out. A `document` is led to its end, and is refused if
 * there is no room for it. A `call` is led to its end, and cut if there is no room. A `text` is cut
 * where it is, but calls in it are led to their ends once they have begun.
 */
export type AnswerEnding = "document" | "call" | "text";

/** Most compiled formats that are cached for a vocabulary. */
const MOST_KEPT = 32;

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

const compiled = new WeakMap<Tokenizer, Map<string, CompiledSchema>>();

/** Follows the tokens of one answer with a format. */
export class Constraint implements TokenConstraint {
  readonly #format: OutputFormat;
  readonly #compiled: CompiledSchema;
  readonly #matcher: Matcher;
  readonly #tokenizer: Tokenizer;
  readonly #ending: AnswerEnding | undefined;
  /** The bits of end tokens, by word of a mask. */
  readonly #endBits = new Map<number, number>();
  #isShortened = false;
  #failure: Error | undefined;
  #allowed: AllowedTokens | undefined;
  /** Kept with what masks allow, if that is wanted. */
  #rules: FormatRules | undefined;

  /**
   * @param ending undefined: the answer is cut wherever it is
   * @param origin another constraint of the same format, at whose state this one begins; default:
   *   at the start
   * @throws SchemaError, GrammarError
   */
  constructor(
    format: OutputFormat,
    tokenizer: Tokenizer,
    ending: AnswerEnding | undefined,
    reading: FormatReading = {},
    origin?: Constraint,
  ) {
    this.#format = format;
    this.#compiled = origin ? origin.#compiled : compileFormat(format, tokenizer, reading);
    this.#matcher = origin ? origin.#matcher.fork() : this.#compiled.matcher();
    this.#tokenizer = tokenizer;
    this.#ending = ending;
    for (const token of tokenizer.endOfGeneration) {
      const at = token >>> 5;
      this.#endBits.set(at, (this.#endBits.get(at) ?? 0) | 1 << (token & 31));
    }
  }

  /** Keeps what a mask allows, and the rules in force there, until the next one. */
  keepMasks(): void {
    this.#rules = new FormatRules(this.#format);
  }

  /** The tokens that the last mask allowed, if they are kept. */
  get allowed(): AllowedTokens | undefined {
    return this.#allowed;
  }

  /** Whether the answer may end here. */
  get isComplete(): boolean {
    return this.#matcher.isComplete;
  }

  /** Whether the answer is sure to end, and to be whole, if this many tokens may still come. */
  endsWithin(tokens: number): boolean {
    return this.#ending !== undefined &&
      (this.#attempt(() => this.#matcher.mayEndWithin(tokens)) ?? false);
  }

  /**
   * Checks that there is room for the answer. An answer whose least number of tokens is not found in
   * time passes. Errors: RequestError.
   *
   * @param tokens that may come
   */
  checkRoom(tokens: number): void {
    if (this.#ending !== "document" || this.endsWithin(tokens)) return;
    const least = this.#attempt(() => this.#matcher.missing()) ?? Infinity;
    if (least <= tokens || least === Infinity) return;
    throw new RequestError(
      `Cannot answer in the format: the shortest answer takes ${least} tokens, and ${tokens} may ` +
        "come: allow more, or shorten the prompt if it leaves no room in the window",
    );
  }

  /** The failure, if there was one: a document can exceed the limits of its format. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  /** What of the format is not enforced, as sentences. */
  get warnings(): string[] {
    return this.#compiled.warnings.map((warning) => warningText(warning));
  }

  /** Whether the model chose a token that the limit left no room for, so that another one came. */
  get isShortened(): boolean {
    return this.#isShortened;
  }

  mask(): Uint32Array<ArrayBuffer> {
    return this.#kept(this.#attempt(() => this.#matcher.mask()));
  }

  instead(token: number, remaining: number): Uint32Array<ArrayBuffer> | undefined {
    if (!this.#attempt(() => this.#isLate([token], remaining))) return undefined;
    this.#isShortened = true;
    return this.#kept(this.#attempt(() => this.#matcher.mask({ remaining })));
  }

  /** Notes what a mask allows, if that is wanted. Without a mask no token is accepted. */
  #kept(mask: Uint32Array<ArrayBuffer> | undefined): Uint32Array<ArrayBuffer> {
    if (mask && this.#rules) {
      const bits = mask.slice();
      this.#allowed = {
        bits,
        forced: this.#forcedText(),
        rules: this.#rules.after(this.#matcher.written),
      };
    }
    return mask ?? new Uint32Array(0);
  }

  forced(most: number): readonly number[] {
    return this.#attempt(() => {
      const tokens = forcedTokens(this.#matcher, this.#tokenizer, most);
      // Fewer tokens may make this text as well, which are then chosen one by one.
      return tokens.length > 0 && this.#isLate(tokens, most) ? [] : tokens;
    }) ?? [];
  }

  /** Whether the answer, which could still end in time, could not after some tokens. */
  #isLate(tokens: readonly number[], remaining: number): boolean {
    const matcher = this.#matcher;
    if (!this.#ending || this.#ending === "text" && matcher.isComplete) return false;
    // An answer that cannot end in time anyway is cut off where it is.
    return !matcher.mayEndAfter(tokens, remaining - tokens.length) &&
      matcher.mayEndWithin(remaining);
  }

  /**
   * A copy at the same state, to follow a draft. A failure in the copy does not affect this one.
   */
  fork(): ConstraintFork {
    return new Constraint(this.#format, this.#tokenizer, this.#ending, {}, this);
  }

  #forcedText(): string {
    return decoder.decode(this.#attempt(() => this.#matcher.forced()) ?? new Uint8Array(0));
  }

  /** Takes the text of the answer that is in the prompt. False if no answer begins with it. */
  begin(text: string): boolean {
    return this.#attempt(() => this.#matcher.acceptBytes(encoder.encode(text))) ?? false;
  }

  /** Takes a token. False if it is not allowed, or if the constraint has failed. */
  accept(token: number): boolean {
    return this.#attempt(() => this.#matcher.accept(token)) ?? false;
  }

  /** Whether only an end may follow, so that the model need not run for it. */
  get mustEnd(): boolean {
    const { isComplete, isEnded } = this.#matcher;
    if (!isComplete || isEnded) return isEnded;
    const mask = this.#attempt(() => this.#matcher.mask());
    return !mask?.some((word, at) => (word & ~(this.#endBits.get(at) ?? 0)) !== 0);
  }

  /** The result of an action; undefined after a failure, because other sequences have to go on. */
  #attempt<T>(action: () => T): T | undefined {
    if (this.#failure) return undefined;
    try {
      return action();
    } catch (error) {
      // Cancelled work ends the answer.
      if (error instanceof CancelledError) throw error;
      this.#failure = this.#limitError(error);
      forget(this.#compiled, this.#tokenizer);
      return undefined;
    }
  }

  /** The error of a mask, in a class that authors of formats can react to. */
  #limitError(error: unknown): Error {
    if (error instanceof EngineError) return error;
    const reason = error instanceof Error ? error.message : String(error);
    if (!(error instanceof DeadEndError)) return new SchemaError("", "", reason, "the format");
    const rules = new FormatRules(this.#format);
    const { pointers = [] } = rules.after(this.#matcher.written);
    const text = rules.path
      ? `nothing may follow in the answer's ${JSON.stringify(rules.path)}, which is not complete`
      : reason;
    return new SchemaError(pointers.at(-1) ?? "", "", text, "the format");
  }
}

/** Compiles a format, or takes it from the cache. @throws SchemaError, GrammarError */
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
  // Moves the entry to the end, where the most recently used one is.
  kept.delete(key);
  kept.set(key, found);
  if (kept.size > MOST_KEPT) kept.delete(kept.keys().next().value!);
  return found;
}

/**
 * Removes a compiled format from the cache, because one that exceeded its limits is useless for
 * others.
 */
function forget(one: CompiledSchema, tokenizer: Tokenizer): void {
  const kept = compiled.get(tokenizer);
  for (const [key, other] of kept ?? []) if (other === one) kept?.delete(key);
}

/** A key that equal formats share; undefined if a schema is nested too deeply to be serialized. */
function keyOf(format: OutputFormat): string | undefined {
  // Many parts of a grammar are schemas within the same document.
  const documents = new Map<unknown, number>();
  try {
    return JSON.stringify(format, (name, value) => {
      if (name === "schema" && typeof value === "object") {
        const known = documents.get(value);
        if (known !== undefined) return known;
        documents.set(value, documents.size);
      }
      if (value instanceof Map) return [...value];
      if (typeof value === "bigint" || isJsonNumber(value)) return rawNumber(value);
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

// The parts of a request's format that are in force at a position of one answer, for reports. It follows the
// answer beside its token masks, which do not depend on it.

/** Follows one answer of a format, which compiled before. */
export class FormatRules {
  readonly #schema: unknown;
  readonly #rules: TextRules | undefined;
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  #text = "";
  #document: OpenDocument | undefined;
  #length = 0;

  constructor(format: OutputFormat) {
    if (format === "json") return;
    if ("schema" in format) this.#schema = valueOf(format.schema);
    else if ("pattern" in format) this.#rules = TextRules.ofPattern(format.pattern);
    else this.#rules = TextRules.ofGrammar(format.grammar);
  }

  /** The rules in force after the bytes of the answer so far; empty where none are told. */
  after(written: Uint8Array): RulesInForce {
    const text = this.#decoder.decode(written.subarray(this.#length), { stream: true });
    this.#length = written.length;
    this.#text += text;
    if (this.#schema !== undefined) return this.#pointers(this.#schema, this.#text);
    this.#rules?.take(text);
    const { document, spans = [] } = this.#rules ?? {};
    if (spans.length > 0) return { spans };
    // The schemas of tools are not the format of the answer.
    if (!document || document.grammar.isQuiet) return {};
    return this.#pointers(valueOf(document.grammar.schema), this.#text.slice(document.start));
  }

  /** Keys and indices that lead to the value that was open there last, if a document was. */
  get path(): OpenDocument["path"] | undefined {
    return this.#document?.path;
  }

  #pointers(schema: unknown, text: string): RulesInForce {
    this.#document = openDocument(text);
    return { pointers: schemaRules(schema, this.#document) };
  }
}

/** A schema as a value, which may be given as JSON text. */
function valueOf(schema: unknown): unknown {
  return typeof schema === "string" ? JSON.parse(schema) : schema;
}
