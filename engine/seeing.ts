// Requests with images: they are read before what the request asks for runs. Requests without any go
// on as they are, at once.

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
import type { ImageData, ReadImage } from "./vision/mod.ts";

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
    const read = await readImages(context, marks.images);
    return generate(context, { ...request, prompt: marks.split(prompt, read) });
  });
}

/** As chat(), with the images of the messages. Errors also: ImageError. */
export function chatSeeing(
  context: SeeingContext,
  request: ChatRequest,
): AsyncIterable<ChatEvent> {
  if (!hasImages(request)) return chat(context, request);
  return later(async () => chat(context, ...await placeImages(context, request)));
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

/** Reads images one after the other. Errors: ImageError, and RequestError if the model cannot see. */
async function readImages(
  { sight }: SeeingContext,
  images: readonly ImageData[],
): Promise<ReadImage[]> {
  if (!sight) {
    throw new RequestError(
      "Cannot read the image: this model reads text alone; use a model that has the capability vision",
    );
  }
  const read: ReadImage[] = [];
  for (const image of images) read.push(await sight.reader.read(image));
  return read;
}

function hasImages({ messages }: ChatRequest): boolean {
  return messages.some(({ images = [] }) => images.length > 0);
}

async function placeImages(context: SeeingContext, request: ChatRequest) {
  const marks = new ImageMarks();
  const messages = marks.placeInMessages(request.messages);
  const read = await readImages(context, marks.images);
  return [{ ...request, messages }, (prompt: string) => marks.split(prompt, read)] as const;
}

/** A stream that begins once it is known. */
async function* later<T>(start: () => Promise<AsyncIterable<T>>): AsyncGenerator<T> {
  yield* await start();
}
