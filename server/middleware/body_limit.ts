// Bounds the bodies of requests. What is too large is read to its end all the same, within reason,
// and thrown away: a client that still sends when the answer comes sees a broken connection instead.

import type { MiddlewareHandler } from "hono";
import { HttpError } from "../errors.ts";

/** How much is thrown away before the answer, in bytes; who sends more may miss it. */
const MAX_DISCARDED_BYTES = 256 * 2 ** 20;

/**
 * Middleware that answers 413 to larger bodies, whether or not they say their length beforehand.
 *
 * @param maxBytes largest body in bytes
 * @param unbound paths whose bodies go by unread
 */
export function bodyLimit(maxBytes: number, unbound?: RegExp): MiddlewareHandler {
  return async (context, next) => {
    if (unbound?.test(context.req.path)) return await next();
    const { body, headers } = context.req.raw;
    const length = headers.has("transfer-encoding") ? null : headers.get("content-length");
    if (!body || (length !== null && Number(length) <= maxBytes)) return await next();
    const bytes = await readBody(body, length === null ? maxBytes : 0);
    if (!bytes) throw new HttpError(413, `the request body is larger than ${maxBytes} bytes`);
    context.req.raw = new Request(context.req.raw, { body: bytes });
    await next();
  };
}

/** The whole body, or undefined if it is larger than that. */
async function readBody(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  maxBytes: number,
): Promise<Blob | undefined> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  try {
    for await (const chunk of body) {
      size += chunk.length;
      if (size <= maxBytes) chunks.push(chunk);
      else chunks.length = 0;
      if (size > MAX_DISCARDED_BYTES) break;
    }
  } catch {
    throw new HttpError(400, "the request body ended before it was complete");
  }
  return size <= maxBytes ? new Blob(chunks) : undefined;
}
