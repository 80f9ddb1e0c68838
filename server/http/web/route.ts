// GET /: the text by which clients of Ollama know that a server runs, word for word; to a browser, the
// page. GET /docs, the explorer of the API; GET /docs/guide, the documentation; and GET /web/{name},
// the files of these pages.

import { type Context, Hono } from "../../dependencies.ts";
import type { AppEnvironment } from "../app_types.ts";
import { assetResponse } from "./assets.ts";
import { guidePage } from "./guide.ts";

/**
 * The content security policy: only files of this server run and load, only this server is asked,
 * and no page may frame it. Images may also be attachments.
 */
const DOCUMENT_HEADERS = {
  "content-security-policy": [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data: blob:",
    "connect-src 'self'",
    "worker-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; "),
  "cross-origin-opener-policy": "same-origin",
  "permissions-policy": "camera=(), microphone=(), geolocation=()",
  "referrer-policy": "no-referrer",
};

/** The routes of the page. */
export function webRoutes(): Hono<AppEnvironment> {
  const app = new Hono<AppEnvironment>();

  app.get("/", async (context) => {
    // Only browsers ask for HTML by name: curl and the libraries of clients take anything.
    if (!/\btext\/html\b/i.test(context.req.header("accept") ?? "")) {
      context.header("vary", "accept");
      return context.text("Ollama is running");
    }
    return await documentResponse(context, "page.html");
  });

  app.get("/docs", (context) => documentResponse(context, "docs.html"));

  for (const path of ["/docs/guide", "/docs/guide/:name"]) {
    app.get(path, async (context) => {
      const page = await guidePage(context.req.param("name"));
      if (page === undefined) return context.notFound();
      return context.html(page, 200, {
        ...DOCUMENT_HEADERS,
        "cache-control": "no-cache",
        "x-content-type-options": "nosniff",
      });
    });
  }

  app.get("/web/:name", async (context) => {
    const name = context.req.param("name");
    const response = name.endsWith(".html")
      ? undefined
      : await assetResponse(name, context.req.raw);
    return response ?? context.notFound();
  });
  return app;
}

async function documentResponse(
  context: Context<AppEnvironment>,
  name: string,
): Promise<Response> {
  return await assetResponse(name, context.req.raw, DOCUMENT_HEADERS) ?? context.notFound();
}
