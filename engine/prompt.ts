// The tokens of a prompt: of its text, of a gap between two texts, and of what was said before. Knows
// the vocabulary and the window; templates are chat.ts's business.

import type { Tokenizer } from "../tokenizer/mod.ts";
import { ContextLengthError, RequestError } from "./errors.ts";
import type { InsertionTokens } from "./insertion.ts";
import type { GenerateRequest } from "./types.ts";

/** The parts of a model that prompts need. */
export interface PromptContext {
  readonly tokenizer: Tokenizer;
  /** Window in tokens. */
  readonly contextLength: number;
  /** Undefined where the vocabulary has none. */
  readonly insertion?: InsertionTokens | undefined;
}

/** What a prompt is made of, as in GenerateRequest. */
export interface PromptParts {
  readonly prompt: GenerateRequest["prompt"];
  readonly suffix?: string | undefined;
  readonly context?: readonly number[] | undefined;
}

/** Token ids of a prompt. Errors: RequestError, ContextLengthError. */
export function encodePrompt(context: PromptContext, parts: PromptParts): number[] {
  const { tokenizer, contextLength } = context;
  const own = encodeOwn(context, parts);
  const { context: before = [] } = parts;
  // What begins a prompt has no place within one. Where prompts do not begin with BOS, a template may
  // use the same token to begin a turn.
  if (before.length > 0 && tokenizer.addBos && own[0] === tokenizer.bosToken) own.shift();
  const tokens = [...before, ...own];
  if (tokens.length === 0) {
    throw new RequestError(
      "Cannot generate: the prompt is empty and the vocabulary has no BOS token",
    );
  }
  checkTokens(tokens, tokenizer, "Cannot generate");
  if (tokens.length >= contextLength) throw new ContextLengthError(tokens.length, contextLength);
  return tokens;
}

/** Errors: RequestError where a token is none of the vocabulary; `attempt` begins its message. */
export function checkTokens(
  tokens: readonly number[],
  { vocabularySize }: Tokenizer,
  attempt: string,
): void {
  const isToken = (token: number) =>
    Number.isInteger(token) && token >= 0 && token < vocabularySize;
  const wrong = tokens.find((token) => !isToken(token));
  if (wrong === undefined) return;
  const state = `the vocabulary has ${vocabularySize} tokens`;
  throw new RequestError(`${attempt}: token ${wrong} is out of range: ${state}`);
}

function encodeOwn({ tokenizer, insertion }: PromptContext, parts: PromptParts): number[] {
  const { prompt, suffix } = parts;
  if (suffix === undefined) {
    return typeof prompt === "string" ? tokenizer.encode(prompt, { bos: true }) : [...prompt];
  }
  if (!insertion) {
    throw new RequestError("Cannot fill a gap: the vocabulary has no tokens for prefix and suffix");
  }
  // Around a gap all text is text, whatever it looks like.
  const encode = (text: string) => tokenizer.encode(text, { special: false });
  return [
    ...tokenizer.encode("", { bos: true }),
    insertion.prefix,
    ...(typeof prompt === "string" ? encode(prompt) : prompt),
    insertion.suffix,
    ...encode(suffix),
    insertion.middle,
  ];
}
