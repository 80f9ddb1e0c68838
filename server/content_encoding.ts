// Request bodies that were compressed on the way (RFC 9110, section 8.4): Codex sends zstd. What they
// may come to is bounded, for a few bytes can stand for gigabytes.

import { promisify } from "node:util";
import { gunzip, zstdDecompress } from "node:zlib";
import { HttpError } from "./errors.ts";

/** Most bytes that a body may come to. */
const MAX_BYTES = 32 * 2 ** 20;

const DECODERS: Record<string, typeof gunzip> = {
  gzip: gunzip,
  "x-gzip": gunzip,
  zstd: zstdDecompress as typeof gunzip,
};

/** The request with its body as it was before it was compressed. */
export function decoded(request: Request): Pick<Request, "arrayBuffer"> {
  const name = request.headers.get("content-encoding")?.trim().toLowerCase() || "identity";
  if (name === "identity") return request;
  return { arrayBuffer: async () => await decode(name, await request.arrayBuffer()) };
}

/** @throws {HttpError} 415 for an encoding that is not known, 413 for too much, 400 for what is broken */
async function decode(name: string, bytes: ArrayBuffer): Promise<ArrayBuffer> {
  if (!Object.hasOwn(DECODERS, name)) {
    throw new HttpError(415, `content-encoding must be gzip or zstd, not "${name}"`);
  }
  const decompress = promisify<Uint8Array, object, Uint8Array>(DECODERS[name]!);
  try {
    return new Uint8Array(await decompress(new Uint8Array(bytes), { maxOutputLength: MAX_BYTES }))
      .buffer;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE") {
      throw new HttpError(413, `the request body is larger than ${MAX_BYTES} bytes`);
    }
    throw new HttpError(400, `invalid ${name} in the request body: ${(error as Error).message}`);
  }
}
