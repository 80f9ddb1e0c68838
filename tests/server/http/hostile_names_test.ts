// Names that no file can have, in every member and address that takes a name: each is refused with a
// sentence that has nothing of this machine in it, and nothing of its length is kept or logged.

import { assert, assertEquals } from "@std/assert";
import { bounded } from "../../../server/bounded.ts";
import { BOX_MODEL } from "../../../engine/box/mod.ts";
import { createLog } from "../../../server/log.ts";
import { createStoreApp } from "../store_app.ts";

const LETTERS = "a".repeat(300);
const NAMES: [name: string, text: string][] = [
  ["300 letters", LETTERS],
  ["a path of 300 letters", `/${LETTERS}.gguf`],
  ["a folder of 300 letters", `/${LETTERS}/`],
  ["a path of 300 letters in bytes", `/${"é".repeat(150)}.gguf`],
  ["a path longer than paths may be", `${"/a".repeat(4000)}.gguf`],
  ["a host of 300 letters", `${"a.".repeat(150)}b/c/d`],
  ["a tag of 300 letters", `tiny:${LETTERS}`],
  ["a NUL in a path", "/tmp/a\0b.gguf"],
  ["a NUL in a name", "tiny\0"],
  ["half a character in a path", "/tmp/\ud800.gguf"],
  ["a path below a file", "/etc/passwd/a.gguf"],
  ["a name of 200 KB", "n".repeat(2e5)],
  ["a path of 200 KB", `/${"n".repeat(2e5)}.gguf`],
  ["a cloud's name of 200 KB", `${"n".repeat(2e5)}:cloud`],
];

const messages = [{ role: "user", content: "Hi" }];
const digest = `sha256:${"0".repeat(64)}`;

/** Requests with the text in one place each. */
function requests(text: string): [method: string, path: string, body?: object][] {
  const rest = { stream: false, max_tokens: 1, messages, input: "Hi", prompt: "Hi", text: "Hi" };
  const models = [
    ...["/api/chat", "/api/generate", "/api/embed", "/api/embeddings", "/api/show", "/api/plan"],
    ...["/api/tokenize", "/api/pull", "/api/push", "/v1/chat/completions", "/v1/completions"],
    ...["/v1/responses", "/v1/embeddings", "/v1/messages", "/v1/messages/count_tokens"],
    "/v1/responses/input_tokens",
  ];
  const segment = encodeURIComponent(text.toWellFormed().slice(0, 20_000));
  return [
    ...models.map((path): [string, string, object] => ["POST", path, { ...rest, model: text }]),
    ["POST", "/api/show", { name: text }],
    ["POST", "/api/chat", { ...rest, model: text, stream: true }],
    ["POST", "/api/generate", { ...rest, model: "tiny", options: { draft: text } }],
    ["POST", "/api/plan", { model: "tiny", options: { draft: text } }],
    ["POST", "/api/copy", { source: text, destination: "b" }],
    ["POST", "/api/copy", { source: "tiny", destination: text }],
    ["DELETE", "/api/delete", { model: text }],
    ["POST", "/api/create", { model: text, from: "tiny", stream: false }],
    ["POST", "/api/create", { model: "new", from: text, stream: false }],
    ["POST", "/api/create", { model: "new", from: text, stream: true }],
    ["POST", "/api/create", { model: "new", files: { [text]: digest }, stream: false }],
    ["POST", "/api/create", { model: "new", files: { "a.gguf": text }, stream: false }],
    ["POST", "/api/create", { model: "new", from: "tiny", adapters: { [text]: digest } }],
    ["POST", "/api/create", { model: "new", from: "tiny", draft: text, stream: false }],
    ["POST", "/api/create", { model: "new", from: "tiny", draft_files: { [text]: digest } }],
    ["POST", "/api/create", { model: "new", from: "tiny", quantize: text, stream: false }],
    ["POST", "/api/create", { model: "new", from: "x", remote_host: `a b${text}`, stream: false }],
    ["GET", `/v1/models/${segment}`],
    ["HEAD", `/api/blobs/${segment}`],
    ["POST", `/api/blobs/${segment}`],
    ["GET", `/v1/responses/${segment}`],
    ["POST", `/api/requests/${segment}/answer`],
    ["GET", `/docs/guide/${segment}`],
    ["GET", `/web/${segment}.js`],
    ["GET", `/${segment}`],
  ];
}

/** What only this machine and its system say. */
const INSIDE = /os error|\/root|\/home|\/work|\/tmp|NUL byte|\.ts:\d/;

Deno.test("names that no file can have are refused in words of ours, wherever they are given", async (t) => {
  const lines: string[] = [];
  const log = createLog({ write: (line) => void lines.push(line) });
  const { app } = await createStoreApp({ log }, { allowPaths: true });
  for (const [name, text] of NAMES) {
    await t.step(name, async () => {
      for (const [method, path, body] of requests(text)) {
        const sent = body && JSON.stringify(body);
        const response = await app.request(path, { method, ...(sent && { body: sent }) });
        const said = await response.text();
        const what = `${method} ${bounded(path, 60)} ${bounded(sent ?? "", 200)}`;
        const { status } = response;
        assert(status < 500 && (status >= 400 || said.includes('"error"')), `${what}: ${status}`);
        assert(said.length < 10_000, `${what}: ${said.length} characters`);
        const given = [text, text.toWellFormed()].map((one) => JSON.stringify(one).slice(1, -1));
        const own = given.reduce((rest, one) => rest.replaceAll(one, ""), said);
        assert(!INSIDE.test(own), `${what}: ${said}`);
      }
    });
  }
  const longest = Math.max(...lines.map(({ length }) => length));
  assert(longest < 5000, `a line of ${longest} characters`);
  const { requests: kept } = await (await app.request("/api/requests")).json();
  assertEquals(kept.length, 100);
  assert(JSON.stringify(kept).length < 100 * 1500);
});

Deno.test("where the folder of the models is a file, reading finds no models and writing says so", async () => {
  const folder = await Deno.makeTempFile();
  try {
    const lines: string[] = [];
    const log = createLog({ write: (line) => void lines.push(line) });
    const { app } = await createStoreApp({ log }, { folder, builtin: [BOX_MODEL] });
    const send = async (method: string, path: string, body?: object | string) => {
      const sent = typeof body === "object" ? JSON.stringify(body) : body;
      const response = await app.request(path, { method, ...(sent && { body: sent }) });
      return [response.status, await response.text()] as const;
    };
    assertEquals((await send("GET", "/api/tags"))[0], 200);
    assertEquals((await send("POST", "/api/chat", { model: "tiny", messages }))[0], 404);
    const digest = `sha256:${await sha256("abc")}`;
    const changes: [string, string, object | string][] = [
      ["POST", `/api/blobs/${digest}`, "abc"],
      ["POST", "/api/create", { model: "new", from: "quern:tiny", system: "x", stream: false }],
      ["POST", "/api/create", { model: "new", from: "quern:tiny", system: "x" }],
      ["POST", "/api/copy", { source: "quern:tiny", destination: "b" }],
      ["DELETE", "/api/delete", { model: "quern:tiny" }],
    ];
    for (const [method, path, body] of changes) {
      const [status, said] = await send(method, path, body);
      assert(status === 507 || status === 200 && path === "/api/create", `${path}: ${status}`);
      assert(said.includes("OLLAMA_MODELS"), `${path}: ${said}`);
      assert(!said.includes(folder) && !INSIDE.test(said), `${path}: ${said}`);
    }
    // What the sentence leaves out is in the log.
    assert(lines.some((line) => line.includes("ERROR") && line.includes(folder)), lines.join(""));
  } finally {
    await Deno.remove(folder);
  }
});

async function sha256(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return new Uint8Array(digest).toHex();
}
