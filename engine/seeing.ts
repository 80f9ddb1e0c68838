// Requests with images: they are read before what the request asks for runs. Requests without any go
// on as they are, at once.

import { cancellable, flagsOf } from "./cancellation.ts";
import { chat, type ChatContext, countTokens } from "./chat.ts";
import { RequestError } from "./errors.ts";
import { generate } from "./generate.ts";
import { ImageMarks } from "./image_marks.ts";
import type { Sight } from "./sight.ts";
import type {
  ChatEvent,
  ChatRequest,
  GenerateEvent,
  GenerateRequest,
  ImageEmbedding,
} from "./types.ts";
import { type ImageData, ImageError, type ReadImage } from "./vision/mod.ts";

/** A model that may see. */
export interface SeeingContext extends ChatContext {
  /** Undefined where it reads text alone. */
  readonly sight: Pick<Sight, "reader"> | undefined;
}

/** As generate(), with the images of the request. Errors also: ImageError. */
export function generateSeeing(
  context: SeeingContext,
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
    const read = await readImages(context, marks.images, request.signal);
    const start = () => generate(context, { ...request, prompt: marks.split(prompt, read) });
    return cancellable(flagsOf(request.signal), start);
  }, request.signal);
}

/** As chat(), with the images of the messages. Errors also: ImageError. */
export function chatSeeing(
  context: SeeingContext,
  request: ChatRequest,
): AsyncIterable<ChatEvent> {
  if (!hasImages(request)) return chat(context, request);
  return later(async () => {
    const placed = await placeImages(context, request);
    return cancellable(flagsOf(request.signal), () => chat(context, ...placed));
  }, request.signal);
}

/** As countTokens(), with the images of the messages. Errors also: ImageError. */
export async function countTokensSeeing(
  context: SeeingContext,
  request: ChatRequest,
): Promise<number> {
  if (!hasImages(request)) return countTokens(context, request);
  return countTokens(context, ...await placeImages(context, request));
}

/** What the model reads of an image: all tiles. Errors: ImageError, RequestError. */
export async function embedImage(
  context: SeeingContext,
  image: ImageData,
): Promise<ImageEmbedding> {
  const [{ parts }] = await readImages(context, [image]);
  const length = parts.reduce((sum, { embeddings }) => sum + embeddings.length, 0);
  const embeddings = new Float32Array(length);
  let at = 0;
  for (const part of parts) {
    embeddings.set(part.embeddings, at);
    at += part.embeddings.length;
  }
  return { embeddings, tokens: parts.reduce((sum, { tokens }) => sum + tokens, 0) };
}

/**
 * Reads images one after the other.
 *
 * @throws {ImageError} with the number of the image, counted from one, if there are several
 * @throws {RequestError} if the model cannot see; the signal's reason
 */
async function readImages(
  { sight }: SeeingContext,
  images: readonly ImageData[],
  signal?: AbortSignal,
): Promise<ReadImage[]> {
  if (!sight) {
    throw new RequestError(
      "Cannot read the image: this model reads text alone; use a model that has the capability vision",
    );
  }
  const read: ReadImage[] = [];
  for (const [i, image] of images.entries()) {
    try {
      read.push(await sight.reader.read(image, signal));
    } catch (error) {
      if (!(error instanceof ImageError) || images.length === 1) throw error;
      throw new ImageError(error.state, `image ${i + 1} of ${images.length}`);
    }
  }
  return read;
}

function hasImages({ messages }: ChatRequest): boolean {
  return messages.some(({ images = [] }) => images.length > 0);
}

async function placeImages(context: SeeingContext, request: ChatRequest) {
  const marks = new ImageMarks();
  const messages = marks.placeInMessages(request.messages);
  const read = await readImages(context, marks.images, request.signal);
  return [{ ...request, messages }, (prompt: string) => marks.split(prompt, read)] as const;
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
