// HEAD and POST /api/blobs/{digest}: files that new models are made from. They are streamed to disk, so
// that only the disk bounds their size.

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

  // Hono answers HEAD by the route of GET, which this path does not have.
  app.get("/api/blobs/:digest", async (context) => {
    if (context.req.method !== "HEAD") {
      return context.text("405 method not allowed", 405, { allow: "HEAD, POST" });
    }
    const size = await store.blobs.sizeOf(requireDigest(context.req.param("digest")));
    return context.body(null, size === undefined ? 404 : 200);
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

function requireDigest(text: string): string {
  const digest = canonicalDigest(text);
  if (digest) return digest;
  throw new HttpError(400, `invalid digest format: "${text}" is not sha256:<64 digits>`);
}
