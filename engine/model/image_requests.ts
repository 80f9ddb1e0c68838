// Requests with images: they are read before what the request asks for runs, and before that they are
// counted, by their headers, so that none is read for a prompt that is too long, or for a turn that is
// dropped. Requests without any go on as they are, at once.

import { cancellable, flagsOf } from "../cancellation.ts";
import { chat, type ChatContext, chatPrompt, countTokens, type SplitPrompt } from "../chat/mod.ts";
import { RequestError } from "../errors.ts";
import { generate } from "../generate/mod.ts";
import {
  encodePrompt,
  type ImageData,
  ImageMarks,
  type PromptItem,
  type ReadImage,
} from "../prompt/mod.ts";
import type {
  ChatEvent,
  ChatRequest,
  GenerateEvent,
  GenerateRequest,
  ImageEmbedding,
} from "../types.ts";
import { ImageError, type LoadedVision } from "../vision/mod.ts";

/** A model that may read images. */
export interface ImageContext extends ChatContext {
  /** Undefined where it reads text alone. */
  readonly vision: Pick<LoadedVision, "reader"> | undefined;
}

/** As generate(), with the images of the request. Errors also: ImageError. */
export function generateWithImages(
  context: ImageContext,
  { images = [], ...request }: GenerateRequest,
): AsyncIterable<GenerateEvent> {
  if (images.length === 0) return generate(context, request);
  return later(async () => {
    const marks = new ImageMarks();
    if (typeof request.prompt !== "string") {
      throw new RequestError(
        "Cannot place the images: a prompt of token ids has no place for them",
      );
    }
    const prompt = marks.place(request.prompt, images);
    const read = await readUsed(
      context,
      marks.images,
      (counting, measured) =>
        encodePrompt(counting, { ...request, prompt: marks.split(prompt, measured) }),
      request.signal,
    );
    const start = () => generate(context, { ...request, prompt: marks.split(prompt, read) });
    return cancellable(flagsOf(request.signal), start);
  }, request.signal);
}

/** As chat(), with the images of the messages. Errors also: ImageError. */
export function chatWithImages(
  context: ImageContext,
  request: ChatRequest,
): AsyncIterable<ChatEvent> {
  if (!hasImages(request)) return chat(context, request);
  return later(async () => {
    const { placed, images, splitBy } = placeImages(request);
    const read = await readUsed(
      context,
      images,
      (counting, measured) => chatPrompt(counting, placed, splitBy(measured)),
      request.signal,
    );
    return cancellable(flagsOf(request.signal), () => chat(context, placed, splitBy(read)));
  }, request.signal);
}

/** As countTokens(), with the images of the messages. Errors also: ImageError. */
export async function countTokensWithImages(
  context: ImageContext,
  request: ChatRequest,
): Promise<number> {
  if (!hasImages(request)) return countTokens(context, request);
  const { placed, images, splitBy } = placeImages(request);
  const measured = measureImages(context, images);
  return await cancellable(
    flagsOf(request.signal),
    () => countTokens(withoutValues(context), placed, splitBy(measured)),
  );
}

/** What the model reads of an image: all tiles. Errors: ImageError, RequestError. */
export async function embedImage(
  context: ImageContext,
  image: ImageData,
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
function readerOf({ vision }: ImageContext): LoadedVision["reader"] {
  if (vision) return vision.reader;
  throw new RequestError(
    "Cannot read the image: this model reads text alone; use a model that has the capability vision",
  );
}

/** Images as they will be read. Errors: ImageError with the number of the image; RequestError. */
function measureImages(context: ImageContext, images: readonly ImageData[]): ReadImage[] {
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
 * Reads the images that a prompt has, one after the other; the others stay measured only.
 *
 * @param promptOf the prompt with such images
 * @throws {ImageError} with the number of the image, counted from one, if there are several
 * @throws {RequestError} if the model reads text alone; what `promptOf` throws; the signal's reason
 */
async function readUsed(
  context: ImageContext,
  images: readonly ImageData[],
  promptOf: (counting: ImageContext, measured: ReadImage[]) => readonly PromptItem[],
  signal?: AbortSignal,
): Promise<ReadImage[]> {
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

/** The same for prompts whose images are only measured: their rows have no values yet, so no columns. */
function withoutValues(context: ImageContext): ImageContext {
  return context.images ? { ...context, images: { ...context.images, columns: 0 } } : context;
}

/** An error that says which of several images is meant. */
function numbered(error: unknown, index: number, images: readonly ImageData[]): unknown {
  if (!(error instanceof ImageError) || images.length === 1) return error;
  return new ImageError(error.state, `image ${index + 1} of ${images.length}`);
}

function hasImages({ messages }: ChatRequest): boolean {
  return messages.some(({ images = [] }) => images.length > 0);
}

/** A request with marks for its images, and what puts images in their place. */
function placeImages(request: ChatRequest) {
  const marks = new ImageMarks();
  const placed = { ...request, messages: marks.placeInMessages(request.messages) };
  const splitBy = (read: readonly ReadImage[]): SplitPrompt => (prompt) =>
    marks.split(prompt, read);
  return { placed, images: marks.images, splitBy };
}

/** A stream that begins once it is known, and ends without an event if it is aborted before. */
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
