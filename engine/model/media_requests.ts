// Requests with images and sounds. First it is found out how many rows they will have, so that none is
// encoded if the prompt is too long or its message is dropped: headers of images tell, and the length of a
// sound. Then those of the prompt are encoded, before the request runs. Requests without any run at once.

import { cancellable, flagsOf } from "../cancellation.ts";
import { chat, type ChatContext, chatPrompt, countTokens, type SplitPrompt } from "../chat/mod.ts";
import { RequestError } from "../errors.ts";
import { generate } from "../generate/mod.ts";
import {
  encodePrompt,
  type MediaData,
  type MediaItem,
  MediaMarks,
  type PromptItem,
  type ReadMedia,
} from "../prompt/mod.ts";
import type {
  ChatEvent,
  ChatRequest,
  GenerateEvent,
  GenerateRequest,
  ImageEmbedding,
} from "../types/mod.ts";
import { AudioError } from "../audio/mod.ts";
import type { LoadedHearing } from "../hearing/mod.ts";
import { ImageError, type LoadedVision } from "../vision/mod.ts";

/** A model that may read images, and may hear. */
export interface MediaContext extends ChatContext {
  /** Undefined if the model reads text alone. */
  readonly vision: Pick<LoadedVision, "reader"> | undefined;
  /** Undefined if the model hears nothing. */
  readonly hearing: Pick<LoadedHearing, "reader"> | undefined;
}

/** generate() with the images and sounds of the request. Errors: those of generate(), ImageError, AudioError. */
export function generateWithMedia(
  context: MediaContext,
  { images = [], audio = [], ...request }: GenerateRequest,
): AsyncIterable<GenerateEvent> {
  if (images.length === 0 && audio.length === 0) return generate(context, request);
  return later(async () => {
    const marks = new MediaMarks();
    if (typeof request.prompt !== "string") {
      throw new RequestError(
        "Cannot place the images or sounds: a prompt of token ids has no place for them",
      );
    }
    const prompt = marks.mark(request.prompt, images, audio);
    const read = await readUsed(
      context,
      marks.media,
      (counting, measured) =>
        encodePrompt(counting, { ...request, prompt: marks.split(prompt, measured) }),
      request.signal,
    );
    const start = () => generate(context, { ...request, prompt: marks.split(prompt, read) });
    return cancellable(flagsOf(request.signal), start);
  }, request.signal);
}

/** chat() with the images and sounds of the messages. Errors: those of chat(), ImageError, AudioError. */
export function chatWithMedia(
  context: MediaContext,
  request: ChatRequest,
): AsyncIterable<ChatEvent> {
  if (!hasMedia(request)) return chat(context, request);
  return later(async () => {
    const { marked, media, splitBy } = markMedia(request);
    const read = await readUsed(
      context,
      media,
      (counting, measured) => chatPrompt(counting, marked, splitBy(measured)),
      request.signal,
    );
    return cancellable(flagsOf(request.signal), () => chat(context, marked, splitBy(read)));
  }, request.signal);
}

/** countTokens() with the images and sounds of the messages. Errors: those of countTokens(), ImageError, AudioError. */
export async function countTokensWithMedia(
  context: MediaContext,
  request: ChatRequest,
): Promise<number> {
  if (!hasMedia(request)) return countTokens(context, request);
  const { marked, media, splitBy } = markMedia(request);
  const measured = await measureMedia(context, media, request.signal);
  return await cancellable(
    flagsOf(request.signal),
    () => countTokens(withoutValues(context), marked, splitBy(measured)),
  );
}

/** The embeddings of an image, of all its tiles. Errors: ImageError, RequestError. */
export async function embedImage(
  context: MediaContext,
  image: MediaData,
): Promise<ImageEmbedding> {
  const { parts } = await imagesOf(context).read(image);
  const length = parts.reduce((sum, { embeddings }) => sum + embeddings.length, 0);
  const embeddings = new Float32Array(length);
  let at = 0;
  for (const part of parts) {
    embeddings.set(part.embeddings, at);
    at += part.embeddings.length;
  }
  return { embeddings, tokens: parts.reduce((sum, { tokens }) => sum + tokens, 0) };
}

/** The reader of a model's images. @throws {RequestError} if it has none */
function imagesOf({ vision }: MediaContext): LoadedVision["reader"] {
  if (vision) return vision.reader;
  throw new RequestError(
    "Cannot read the image: this model reads no images; use a model that has the capability vision",
  );
}

/** The reader of a model's sounds. @throws {RequestError} if it has none */
function soundsOf({ hearing }: MediaContext): LoadedHearing["reader"] {
  if (hearing) return hearing.reader;
  throw new RequestError(
    "Cannot read the sound: this model does not hear; use a model that has the capability audio",
  );
}

function readerOf(context: MediaContext, { kind }: MediaItem) {
  return kind === "image" ? imagesOf(context) : soundsOf(context);
}

/**
 * How many rows images and sounds will have. Errors: ImageError, AudioError with the number of the image or
 * sound; RequestError; the signal's reason.
 */
async function measureMedia(
  context: MediaContext,
  media: readonly MediaItem[],
  signal?: AbortSignal,
): Promise<ReadMedia[]> {
  for (const item of media) readerOf(context, item);
  const measured: ReadMedia[] = [];
  for (const item of media) {
    try {
      measured.push(await readerOf(context, item).measure(item.data, signal));
    } catch (error) {
      throw numbered(error, item, media);
    }
  }
  return measured;
}

/**
 * Reads the images and sounds that the prompt contains, one after the other. Those of dropped messages stay
 * unread.
 *
 * @param promptOf makes the prompt, given the images and sounds
 * @throws {ImageError | AudioError} with its number, counted from one, if there are several
 * @throws {RequestError} if the model reads text alone; what `promptOf` throws; the signal's reason
 */
async function readUsed(
  context: MediaContext,
  media: readonly MediaItem[],
  promptOf: (counting: MediaContext, measured: ReadMedia[]) => readonly PromptItem[],
  signal?: AbortSignal,
): Promise<ReadMedia[]> {
  const read = await measureMedia(context, media, signal);
  const counting = withoutValues(context);
  const items = new Set(cancellable(flagsOf(signal), () => promptOf(counting, read)));
  using _ = context.vision?.reader.begin();
  for (const [i, item] of media.entries()) {
    if (!read[i].parts.some((part) => items.has(part))) continue;
    try {
      read[i] = await readerOf(context, item).read(item.data, signal);
    } catch (error) {
      throw numbered(error, item, media);
    }
  }
  return read;
}

/**
 * The context for prompts whose images are only measured: their rows have no values, so no columns.
 */
function withoutValues(context: MediaContext): MediaContext {
  return context.media ? { ...context, media: { ...context.media, columns: 0 } } : context;
}

/** The error, with the number of the image or sound if there are several. */
function numbered(error: unknown, item: MediaItem, media: readonly MediaItem[]): unknown {
  const alike = media.filter(({ kind }) => kind === item.kind);
  if (alike.length === 1) return error;
  const place = `${alike.indexOf(item) + 1} of ${alike.length}`;
  if (error instanceof ImageError) return new ImageError(error.state, `image ${place}`);
  return error instanceof AudioError ? new AudioError(error.state, `sound ${place}`) : error;
}

function hasMedia({ messages }: ChatRequest): boolean {
  return messages.some(({ images = [], audio = [] }) => images.length + audio.length > 0);
}

/**
 * A request with marks instead of its images and sounds, and the function that puts these in the marks'
 * places.
 */
function markMedia(request: ChatRequest) {
  const marks = new MediaMarks();
  const marked = { ...request, messages: marks.markMessages(request.messages) };
  const splitBy = (read: readonly ReadMedia[]): SplitPrompt => (prompt) =>
    marks.split(prompt, read);
  return { marked, media: marks.media, splitBy };
}

/** A stream that is not known yet. It has no events if it is aborted before it is known. */
async function* later<T>(
  start: () => Promise<AsyncIterable<T>>,
  signal: AbortSignal | undefined,
): AsyncGenerator<T> {
  let events: AsyncIterable<T> | undefined;
  try {
    events = await start();
  } catch (error) {
    if (!signal?.aborted) throw error;
  }
  if (events) yield* events;
}
