// Compressed request bodies (RFC 9110, section 8.4): Codex sends zstd. They are decompressed piece by
// piece, so that the reader can stop in between: a few bytes can expand to gigabytes.

import { type Duplex, Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip, createZstdDecompress } from "node:zlib";
import { TimeSlice } from "../../../engine/mod.ts";
import { HttpError } from "../errors.ts";

const DECODERS: Record<string, () => Duplex> = {
  gzip: createGunzip,
  "x-gzip": createGunzip,
  zstd: createZstdDecompress,
};

/**
 * The decompressed body of a request, in pieces.
 *
 * @throws {HttpError} 415 for an encoding that is not known, 400 for what is broken or cut off
 */
export async function* decoded(request: Request): AsyncGenerator<Uint8Array> {
  const { body } = request;
  const name = request.headers.get("content-encoding")?.trim().toLowerCase() || "identity";
  if (name !== "identity" && !Object.hasOwn(DECODERS, name)) {
    throw new HttpError(415, `content-encoding must be gzip or zstd, not "${name}"`);
  }
  if (!body) return;
  if (name === "identity") return yield* received(body);
  const decoder = DECODERS[name]!();
  // An error of the source comes out of the decoder.
  pipeline(Readable.from(received(body)), decoder).catch(() => {});
  const slice = new TimeSlice();
  try {
    for await (const piece of decoder) {
      yield piece;
      if (slice.isOver) await slice.pause();
    }
  } catch (error) {
    if (error instanceof HttpError) throw error;
    throw new HttpError(400, `invalid ${name} in the request body: ${(error as Error).message}`);
  }
}

/**
 * A body as it arrives.
 *
 * @throws {HttpError} 400 if it ends before it is complete: the client's fault, whatever the stream says
 */
export async function* received<T extends Uint8Array>(body: ReadableStream<T>): AsyncGenerator<T> {
  try {
    yield* body;
  } catch (error) {
    if (error instanceof HttpError) throw error;
    throw new HttpError(400, "the request body ended before it was complete");
  }
}
