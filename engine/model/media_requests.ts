// Requests with images. First the headers of all images tell how many rows they will have, so that
// none is decoded if the prompt is too long or its message is dropped. Then the images of the
// prompt are decoded, before the request runs. Requests without images run at once.

import { cancellable, flagsOf } from "../cancellation.ts";
import { chat, type ChatContext, chatPrompt, countTokens, type SplitPrompt } from "../chat/mod.ts";
import { RequestError } from "../errors.ts";
import { generate } from "../generate/mod.ts";
import {
  encodePrompt,
  type MediaData,
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
import { ImageError, type LoadedVision } from "../vision/mod.ts";

/** A model that may read images. */
export interface MediaContext extends ChatContext {
  /** Undefined if the model reads text alone. */
  readonly vision: Pick<LoadedVision, "reader"> | undefined;
}

/** generate() with the images of the request. Errors: those of generate(), ImageError. */
export function generateWithMedia(
  context: MediaContext,
  { images = [], ...request }: GenerateRequest,
): AsyncIterable<GenerateEvent> {
  if (images.length === 0) return generate(context, request);
  return later(async () => {
    const marks = new MediaMarks();
    if (typeof request.prompt !== "string") {
      throw new RequestError(
        "Cannot place the images: a prompt of token ids has no place for them",
      );
    }
    const prompt = marks.mark(request.prompt, images);
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

/** chat() with the images of the messages. Errors: those of chat(), ImageError. */
export function chatWithMedia(
  context: MediaContext,
  request: ChatRequest,
): AsyncIterable<ChatEvent> {
  if (!hasImages(request)) return chat(context, request);
  return later(async () => {
    const { marked, media: images, splitBy } = markImages(request);
    const read = await readUsed(
      context,
      images,
      (counting, measured) => chatPrompt(counting, marked, splitBy(measured)),
      request.signal,
    );
    return cancellable(flagsOf(request.signal), () => chat(context, marked, splitBy(read)));
  }, request.signal);
}

/** countTokens() with the images of the messages. Errors: those of countTokens(), ImageError. */
export async function countTokensWithMedia(
  context: MediaContext,
  request: ChatRequest,
): Promise<number> {
  if (!hasImages(request)) return countTokens(context, request);
  const { marked, media: images, splitBy } = markImages(request);
  const measured = measureImages(context, images);
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
  const { parts } = await readerOf(context).read(image);
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
function readerOf({ vision }: MediaContext): LoadedVision["reader"] {
  if (vision) return vision.reader;
  throw new RequestError(
    "Cannot read the image: this model reads text alone; use a model that has the capability vision",
  );
}

/**
 * The sizes of images, from their headers. Errors: ImageError with the number of the image;
 * RequestError.
 */
function measureImages(context: MediaContext, images: readonly MediaData[]): ReadMedia[] {
  const reader = readerOf(context);
  return images.map((image, i) => {
    try {
      return reader.measure(image);
    } catch (error) {
      throw numbered(error, i, images);
    }
  });
}

/**
 * Reads the images that the prompt contains, one after the other. Those of dropped messages stay
 * unread.
 *
 * @param promptOf makes the prompt, given the images
 * @throws {ImageError} with the number of the image, counted from one, if there are several
 * @throws {RequestError} if the model reads text alone; what `promptOf` throws; the signal's reason
 */
async function readUsed(
  context: MediaContext,
  images: readonly MediaData[],
  promptOf: (counting: MediaContext, measured: ReadMedia[]) => readonly PromptItem[],
  signal?: AbortSignal,
): Promise<ReadMedia[]> {
  const reader = readerOf(context);
  const read = measureImages(context, images);
  const counting = withoutValues(context);
  const items = new Set(cancellable(flagsOf(signal), () => promptOf(counting, read)));
  using _ = reader.begin();
  for (const [i, image] of images.entries()) {
    if (!read[i].parts.some((part) => items.has(part))) continue;
    try {
      read[i] = await reader.read(image, signal);
    } catch (error) {
      throw numbered(error, i, images);
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

/** The error, with the number of the image if there are several. */
function numbered(error: unknown, index: number, images: readonly MediaData[]): unknown {
  if (!(error instanceof ImageError) || images.length === 1) return error;
  return new ImageError(error.state, `image ${index + 1} of ${images.length}`);
}

function hasImages({ messages }: ChatRequest): boolean {
  return messages.some(({ images = [] }) => images.length > 0);
}

/**
 * A request with marks instead of its images, and the function that puts images in the marks'
 * places.
 */
function markImages(request: ChatRequest) {
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
