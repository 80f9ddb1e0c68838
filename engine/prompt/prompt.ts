// The tokens of a prompt: of its text, of a gap between two texts, of the earlier context, and
// images between them. It knows the vocabulary and the window; chat.ts renders templates.

import { cutText, TaintedText, type Text, type Tokenizer } from "../../tokenizer/mod.ts";
import { ContextLengthError, RequestError } from "../errors.ts";
import type { WindowOptions } from "../types/mod.ts";
import type { FillInMiddleTokens } from "./fill_in_middle.ts";
import {
  type MediaLimits,
  type PromptItem,
  promptLength,
  type PromptMedia,
} from "./prompt_media.ts";

/** The parts of a model that prompts need. */
export interface PromptContext {
  readonly tokenizer: Tokenizer;
  /** Window in tokens. */
  readonly contextLength: number;
  /** Undefined if the vocabulary has none. */
  readonly fillInMiddle?: FillInMiddleTokens | undefined;
  /** Missing if prompts cannot have images. */
  readonly media?: MediaLimits | undefined;
  /** The factor of each of the model's adapters. Missing: the request has none. */
  readonly adapterScales?: readonly number[] | undefined;
}

/**
 * A text, or pieces of text, token ids and images in order. BOS is added to a text at the
 * beginning. The parts of a text that are data have no control tokens.
 */
export type Prompt = Text | readonly (Text | PromptItem)[];

/** The parts of a prompt, as in GenerateRequest. */
export interface PromptParts {
  readonly prompt: Prompt;
  readonly suffix?: string | undefined;
  readonly context?: readonly number[] | undefined;
}

/** The context with the window of a request, which may be smaller than the model's. */
export function withWindow<T extends PromptContext>(
  context: T,
  { contextLength = Infinity }: WindowOptions,
): T {
  if (!(contextLength >= 1)) {
    throw new RequestError(
      `Cannot run in a window of ${contextLength} tokens: it has to be at least 1`,
    );
  }
  if (contextLength >= context.contextLength) return context;
  return { ...context, contextLength: Math.floor(contextLength) };
}

/**
 * Longest text that is encoded as a whole even if it does not fit, so that the error has its exact
 * length.
 */
const ENCODED_WHOLE = 1 << 20;

/**
 * Units of a longer text that are encoded first, per token of the window. If they do not fit, the
 * rest is not encoded.
 */
const UNITS_PER_TOKEN = 32;

/**
 * Refuses a text that is far too long without encoding all of it, which would block the model for
 * seconds. Errors: ContextLengthError with an estimated number of tokens.
 */
function refuseFarTooLong(text: Text, { tokenizer, contextLength }: PromptContext): void {
  const begun = Math.max(ENCODED_WHOLE, UNITS_PER_TOKEN * contextLength);
  if (text.length <= begun) return;
  const { length } = tokenizer.encode(cutText(text, 0, begun));
  // Near the cut, a few tokens may differ from those of the whole text.
  if (length < contextLength + 8) return;
  throw new ContextLengthError(Math.round(length * (text.length / begun)), contextLength);
}

/** Token ids and images of a prompt. Errors: RequestError, ContextLengthError. */
export function encodePrompt(context: PromptContext, parts: PromptParts): PromptItem[] {
  const { tokenizer, contextLength } = context;
  for (const piece of isText(parts.prompt) ? [parts.prompt] : parts.prompt) {
    if (isText(piece)) refuseFarTooLong(piece, context);
  }
  const own = encodeOwn(context, parts);
  const { context: before = [] } = parts;
  // Within a prompt there is no BOS at the beginning of a part, unless the template itself uses
  // that token to begin a turn.
  if (before.length > 0 && tokenizer.addBos && own[0] === tokenizer.bosToken) own.shift();
  const items = [...before, ...own];
  if (items.length === 0) {
    throw new RequestError(
      "Cannot generate: the prompt is empty and the vocabulary has no BOS token",
    );
  }
  checkTokens(items.filter((item) => typeof item === "number"), tokenizer, "Cannot generate");
  // The length is checked first, because images of a prompt that is too long need not have been
  // read.
  const length = promptLength(items);
  if (length >= contextLength) throw new ContextLengthError(length, contextLength);
  for (const item of items) if (typeof item !== "number") checkMedia(item, context.media);
  return items;
}

function checkMedia(media: PromptMedia, limits: MediaLimits | undefined): void {
  const { embeddings, tokens, isCausal = false } = media;
  const refuse = (state: string) =>
    new RequestError(isCausal ? `Cannot read a sound: ${state}` : `Cannot read an image: ${state}`);
  if (!limits) throw refuse("the model reads text alone");
  if (tokens === 0 || embeddings.length !== tokens * limits.columns) {
    const given = `it has ${embeddings.length} values in ${tokens} rows`;
    throw refuse(`${given}, and the model takes rows of ${limits.columns}`);
  }
  if (!isCausal && tokens > limits.tokens) {
    throw refuse(`it has ${tokens} tokens, and the model takes ${limits.tokens} at a time`);
  }
}

/** Errors: RequestError if a token is not in the vocabulary; its message begins with `attempt`. */
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

function isText(piece: Prompt | PromptItem): piece is Text {
  return typeof piece === "string" || piece instanceof TaintedText;
}

function encodeOwn({ tokenizer, fillInMiddle }: PromptContext, parts: PromptParts): PromptItem[] {
  const { suffix } = parts;
  const pieces = isText(parts.prompt) ? [parts.prompt] : parts.prompt;
  if (suffix === undefined) {
    return pieces.flatMap((piece, i) =>
      isText(piece) ? tokenizer.encode(piece, { bos: i === 0 }) : piece
    );
  }
  if (!fillInMiddle) {
    throw new RequestError("Cannot fill a gap: the vocabulary has no tokens for prefix and suffix");
  }
  // The texts around a gap have no control tokens, whatever they look like.
  const encode = (text: Text) => tokenizer.encode(text, { special: false });
  return [
    ...tokenizer.encode("", { bos: true }),
    fillInMiddle.prefix,
    ...pieces.flatMap((piece) => isText(piece) ? encode(piece) : piece),
    fillInMiddle.suffix,
    ...encode(suffix),
    fillInMiddle.middle,
  ];
}
