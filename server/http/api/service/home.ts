// GET /: the text by which clients of Ollama know that a server runs, word for word; to a browser, a
// page that says what this is and where to go. The page loads nothing and runs nothing.

import { createHash } from "node:crypto";
import { Hono } from "../../../dependencies.ts";
import type { AppDependencies, AppEnvironment } from "../../app_types.ts";

const STYLE = `
:root { color-scheme: light dark; }
body { font: 1rem/1.6 system-ui, sans-serif; max-width: 42rem; margin: 3rem auto; padding: 0 1rem; }
pre { overflow-x: auto; padding: 0.8rem; border: 1px solid; border-radius: 0.4rem; }
`;

const HEADERS = {
  "content-security-policy":
    `default-src 'none'; style-src '${hashOf(STYLE)}'; base-uri 'none'; form-action 'none'; ` +
    "frame-ancestors 'none'",
  "content-type": "text/html; charset=utf-8",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
};

/** The route of the root, where a person looks first. */
export function homeRoutes({ version }: Pick<AppDependencies, "version">): Hono<AppEnvironment> {
  const app = new Hono<AppEnvironment>();
  app.get("/", (context) => {
    context.header("vary", "accept");
    // Only browsers ask for HTML by name: curl and the libraries of clients take anything.
    if (!/\btext\/html\b/i.test(context.req.header("accept") ?? "")) {
      return context.text("Ollama is running");
    }
    return context.body(page(version, new URL(context.req.url).origin), 200, HEADERS);
  });
  return app;
}

/** @param origin of this server, as the browser reached it */
function page(version: string, origin: string): string {
  const command = `curl ${origin}/api/chat -d '{
  "model": "quern:tiny", "stream": false,
  "messages": [{ "role": "user", "content": "How do I pull a model?" }]
}'`;
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Quern</title>
<style>${STYLE}</style>
</head>
<body>
<h1>Quern ${escapeHtml(version)}</h1>
<p>This is a local model server, and it is running. Programs talk with it through the APIs of Ollama,
Anthropic and OpenAI at <code>${escapeHtml(origin)}</code>; try it in a terminal:</p>
<pre><code>${escapeHtml(command)}</code></pre>
<p>Or talk with a model there: <code>quern run MODEL</code>. <code>quern help</code> lists the
commands, and the README of the program explains the rest.</p>
<ul>
<li><a href="/openapi.json">/openapi.json</a>: every route, request and answer</li>
<li><a href="/api/tags">/api/tags</a>: the models of this machine</li>
<li><a href="/api/ps">/api/ps</a>: those in memory</li>
<li><a href="/health">/health</a> and <a href="/metrics">/metrics</a>: how the server is</li>
</ul>
</body>
</html>
`;
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** What allows an inline style in a policy. */
function hashOf(text: string): string {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}
