// HEAD, GET and POST /api/blobs/{digest}: files that new models are made from, and that pages run. They are
// streamed to and from the disk, so that only that bounds their size. A range is one of bytes (RFC 9110, 14).

import { Hono } from "../../../dependencies.ts";
import { canonicalDigest } from "../../../../engine/mod.ts";
import type { AppDependencies, AppEnvironment } from "../../app_types.ts";
import { received } from "../../body/content_encoding.ts";
import { HttpError } from "../../errors.ts";

/** The paths of uploads, to which the bound on other bodies does not apply. */
export const UPLOAD_PATH = /^\/api\/blobs\//;

/** Routes that look for blobs and take them. */
export function blobRoutes({ store }: AppDependencies): Hono<AppEnvironment> {
  const app = new Hono<AppEnvironment>();

  // Hono answers HEAD by the route of GET.
  app.get("/api/blobs/:digest", async (context) => {
    const digest = requireDigest(context.req.param("digest"));
    const path = await store.fileOf(digest);
    if (path === undefined) {
      if (context.req.method === "HEAD") return context.body(null, 404);
      throw new HttpError(404, `blob "${digest}" is not in the store`);
    }
    const file = await Deno.open(path);
    const { size } = await file.stat();
    const etag = `"${digest}"`;
    const ifRange = context.req.header("if-range") ?? etag;
    const range = ifRange === etag ? readRange(context.req.header("range"), size) : undefined;
    const headers = { ...BLOB_HEADERS, etag, "content-length": `${size}` };
    if (range === "unsatisfiable") {
      file.close();
      return context.body(null, 416, { ...headers, "content-range": `bytes */${size}` });
    }
    if (context.req.method === "HEAD") {
      file.close();
      return context.body(null, 200, headers);
    }
    if (!range) return context.body(file.readable, 200, headers);
    const { start, end } = range;
    await file.seek(start, Deno.SeekMode.Start);
    return context.body(firstOf(file.readable, end - start), 206, {
      ...headers,
      "content-length": `${end - start}`,
      "content-range": `bytes ${start}-${end - 1}/${size}`,
    });
  });

  app.post("/api/blobs/:digest", async (context) => {
    const digest = requireDigest(context.req.param("digest"));
    const { body, signal } = context.req.raw;
    const data = body ? ReadableStream.from(received(body)) : new Uint8Array();
    const { existed } = await store.blobs.put(data, { digest, signal });
    return context.body(null, existed ? 200 : 201);
  });
  return app;
}

/** A file with a digest never changes. */
const BLOB_HEADERS = {
  "accept-ranges": "bytes",
  "cache-control": "private, max-age=31536000, immutable",
  "content-type": "application/octet-stream",
};

/** From one byte up to another. */
interface ByteRange {
  start: number;
  end: number;
}

/**
 * The range that a header asks for; undefined if it asks for none, or for several, which are answered by
 * the whole.
 */
function readRange(
  header: string | undefined,
  size: number,
): ByteRange | "unsatisfiable" | undefined {
  const [, first, last] = /^bytes=(\d*)-(\d*)$/.exec(header ?? "") ?? [];
  if (first === undefined || last === undefined || first + last === "") return undefined;
  const range = first === ""
    ? { start: Math.max(0, size - Number(last)), end: size }
    : { start: Number(first), end: last === "" ? size : Math.min(size, Number(last) + 1) };
  if (first !== "" && last !== "" && Number(last) < Number(first)) return undefined;
  return range.start < range.end ? range : "unsatisfiable";
}

/** The first bytes of a stream, which is ended after them. */
function firstOf(
  stream: ReadableStream<Uint8Array<ArrayBuffer>>,
  bytes: number,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  let left = bytes;
  return stream.pipeThrough(
    new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
      transform(chunk, controller) {
        const part = chunk.subarray(0, left);
        left -= part.length;
        controller.enqueue(part);
        if (left === 0) controller.terminate();
      },
    }),
  );
}

function requireDigest(text: string): string {
  const digest = canonicalDigest(text);
  if (digest) return digest;
  throw new HttpError(400, `invalid digest format: "${text}" is not sha256:<64 digits>`);
}
