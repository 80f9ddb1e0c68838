// JSON responses with the content type that the native API names in full.

import type { ContentfulStatusCode } from "../dependencies.ts";

/** A response with a JSON body. */
export function json(
  body: unknown,
  status: ContentfulStatusCode = 200,
  headers: Record<string, string> = {},
): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { "content-type": "application/json; charset=utf-8", ...headers },
  });
}
