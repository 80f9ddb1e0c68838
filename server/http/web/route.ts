// GET /: the text by which clients of Ollama know that a server runs, word for word; to a browser, the
// page. GET /docs, the explorer of the API; GET /docs/guide, the documentation; and GET /web/{name},
// the files of these pages; GET /web/library, whether the library for pages is built, and
// GET /web/library/{name}, its files.

import { type Context, Hono, Marked, type Tokens } from "../../dependencies.ts";
import type { AppEnvironment } from "../app_types.ts";
import { assetResponse, hasLibrary, LIBRARY, readAsset } from "./assets.ts";

/**
 * The content security policy: only files of this server run and load, only this server is asked,
 * and no page may frame it. Images and sounds may also be attachments.
 */
const DOCUMENT_HEADERS = {
  "content-security-policy": [
    "default-src 'none'",
    // WebAssembly is for models that run in the page.
    "script-src 'self' 'wasm-unsafe-eval'",
    "style-src 'self'",
    "img-src 'self' data: blob:",
    "media-src data:",
    "connect-src 'self'",
    "worker-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; "),
  // Both together give the page memory that its threads share.
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-embedder-policy": "require-corp",
  "permissions-policy": "camera=(), microphone=(self), geolocation=()",
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

  app.get("/web/library", async (context) => {
    return context.json({ built: await hasLibrary() }, 200, { "cache-control": "no-cache" });
  });

  app.get("/web/library/:name", async (context) => {
    const response = await assetResponse(context.req.param("name"), context.req.raw, {}, LIBRARY);
    return response ?? context.notFound();
  });

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

// The documentation in docs/ as HTML: README.md, which lists the pages, at /docs/guide, and each page at
// /docs/guide/{name}. They are read and rendered at each request: they are small, and a page that is
// being written shows as it is. Format: https://github.github.com/gfm

const FOLDER = new URL("../../../docs/", import.meta.url);
const LIST = "README";
const PATH = "/docs/guide";

/**
 * A page of the documentation as a document of HTML; undefined if there is none of that name.
 *
 * @param name of its file without `.md`; without a name, the list of pages
 */
async function guidePage(name = LIST): Promise<string | undefined> {
  const list = await readPage(LIST);
  const source = name === LIST ? list : await readPage(name);
  if (source === undefined || list === undefined) return undefined;
  const parts: Record<string, string> = {
    TITLE: escape(/^# (.+)$/m.exec(source)?.[1] ?? name),
    NAVIGATION: navigation(list, name),
    CONTENT: markdown.parse(source, { async: false }) + neighbours(list, name),
  };
  const template = await readAsset("guide.html");
  return template.replaceAll(/\b(?:TITLE|NAVIGATION|CONTENT)\b/g, (part) => parts[part]!);
}

/** The text of a page. Names come from clients: only those of plain files are looked for. */
async function readPage(name: string): Promise<string | undefined> {
  if (!/^[\w-]{1,64}$/.test(name)) return undefined;
  try {
    return await Deno.readTextFile(new URL(`${name}.md`, FOLDER));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

/** The pages that the list names, in its order. */
function pagesOf(list: string): { title: string; name: string }[] {
  return [...list.matchAll(/^\| \[([^\]]+)\]\(([\w-]+)\.md\)/gm)]
    .map(([, title, name]) => ({ title: title!, name: name! }));
}

/** Links to all pages. */
function navigation(list: string, shown: string): string {
  const links = pagesOf(list).map(({ title, name }) => {
    const state = name === shown ? ' aria-current="page"' : "";
    return `<li><a href="${PATH}/${name}"${state}>${escape(title)}</a></li>`;
  });
  return `<ul>${links.join("")}</ul>`;
}

/** Links to the page before and the one after; from the list, to the first one. */
function neighbours(list: string, shown: string): string {
  const pages = pagesOf(list);
  const at = pages.findIndex(({ name }) => name === shown);
  const link = (relation: string, words: string, page?: { title: string; name: string }) =>
    page
      ? `<a rel="${relation}" href="${PATH}/${page.name}"><span class="soft">${words}</span> ` +
        `${escape(page.title)}</a>`
      : "<span></span>";
  return `<nav class="neighbours" aria-label="Neighbouring pages">` +
    link("prev", "Before", pages[at - 1]) + link("next", "Next", pages[at + 1]) + "</nav>";
}

/** Markdown to HTML. Whatever is HTML in it stays text. */
const markdown = new Marked({
  gfm: true,
  renderer: {
    heading({ depth, tokens, text }) {
      const content = this.parser.parseInline(tokens);
      return `<h${depth} id="${anchor(text)}" class="heading-${depth}">${content}</h${depth}>`;
    },
    link({ href, tokens }) {
      const content = this.parser.parseInline(tokens);
      const target = targetOf(href);
      if (!target) return content;
      const more = target === href && !href.startsWith("#")
        ? ' target="_blank" rel="noopener noreferrer"'
        : "";
      return `<a href="${escape(target)}"${more}>${content}</a>`;
    },
    image: ({ text }) => escape(text),
    html: ({ text }) => escape(text),
    code: ({ text, lang = "" }) =>
      `<figure class="code"><figcaption><span>${escape(lang.split(" ")[0]!)}</span></figcaption>` +
      `<pre tabindex="0"><code>${escape(text)}</code></pre></figure>`,
    table({ header, rows }) {
      const cells = (row: Tokens.TableCell[], open: string, close: string) => {
        const all = row.map(({ tokens }) => open + this.parser.parseInline(tokens) + close);
        return `<tr>${all.join("")}</tr>`;
      };
      return '<div class="table-frame" tabindex="0" role="group" aria-label="Table"><table>' +
        `<thead>${cells(header, '<th scope="col">', "</th>")}</thead>` +
        `<tbody>${rows.map((row) => cells(row, "<td>", "</td>")).join("")}</tbody></table></div>`;
    },
  },
});

/** Where a link of a page leads here; undefined if it leads to a file that the server does not have. */
function targetOf(href: string): string | undefined {
  if (/^(?:https?:|#)/.test(href)) return href;
  const [, name, anchor = ""] = /^([\w-]+)\.md(#.*)?$/.exec(href) ?? [];
  if (!name) return undefined;
  return (name === LIST ? PATH : `${PATH}/${name}`) + anchor;
}

/** The anchor of a heading, as GitHub makes it. */
function anchor(heading: string): string {
  return heading.toLowerCase().replaceAll(/[^\p{L}\p{N} _-]/gu, "").replaceAll(" ", "-");
}

function escape(text: string): string {
  const names: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
  return text.replaceAll(/[&<>"]/g, (sign) => names[sign]!);
}
