// Errors of the operating system on their way to clients of all APIs, as a status and in a stream: the
// sentence is ours, and the system's words are in the log alone.

import { assert, assertEquals, assertMatch } from "@std/assert";
import { packError, unpackError } from "../../../engine/error_record.ts";
import { createLog } from "../../../server/log.ts";
import { failsAfter } from "../fake_model.ts";
import { createTestApp } from "../test_app.ts";

const PATH = "/srv/secret/models/blobs/sha256-1";

function systemError(code: string, words: string): Error {
  return Object.assign(new Error(`${words} (os error 1): open '${PATH}'`), { code });
}

const CASES: [error: Error, status: number, sentence: RegExp][] = [
  [systemError("EMFILE", "Too many open files"), 503, /no more open files/],
  [systemError("EAGAIN", "Resource temporarily unavailable"), 503, /no more threads or memory/],
  [systemError("ENAMETOOLONG", "File name too long"), 400, /a name in the request is too long/],
  [systemError("EACCES", "Permission denied"), 507, /may not read or write/],
  [systemError("ENOSPC", "No space left on device"), 507, /disk of the server is full/],
  [systemError("ENOTDIR", "Not a directory"), 507, /OLLAMA_MODELS/],
  [systemError("EIO", "Input/output error"), 507, /cannot be read or written; its log says which/],
];

const messages = [{ role: "user", content: "Hi" }];
const ENDPOINTS: [path: string, body: object][] = [
  ["/api/chat", { messages }],
  ["/api/generate", { prompt: "Hi" }],
  ["/v1/chat/completions", { messages }],
  ["/v1/completions", { prompt: "Hi" }],
  ["/v1/responses", { input: "Hi" }],
  ["/v1/messages", { messages, max_tokens: 9 }],
];

Deno.test("an error of the system has a status and a sentence without paths, in every API", async () => {
  for (const [error, status, sentence] of CASES) {
    // From this thread, and from that of a model.
    for (const thrown of [error, unpackError(packError(error))]) {
      const lines: string[] = [];
      const log = createLog({ write: (line) => void lines.push(line) });
      const { post } = createTestApp({ script: failsAfter([], thrown) }, { log });
      for (const [path, body] of ENDPOINTS) {
        for (const stream of [false, true]) {
          const response = await post(path, { model: "tiny", ...body, stream });
          const text = await response.text();
          assertEquals([path, response.status], [path, status]);
          assertMatch(text, sentence);
          assert(!/secret|os error/.test(text), text);
        }
      }
      const isLogged = lines.some((line) => line.includes(" ERROR ") && line.includes(PATH));
      assertEquals(isLogged, status >= 500);
    }
  }
});

Deno.test("an error of the system that ends a stream has the same sentence there", async () => {
  for (const [error, , sentence] of CASES) {
    const { post } = createTestApp({ script: failsAfter(["x"], error) });
    for (const [path, body] of ENDPOINTS) {
      const response = await post(path, { model: "tiny", ...body, stream: true });
      assertEquals(response.status, 200);
      const text = await response.text().catch(() => undefined);
      // One API cuts the connection instead.
      if (text === undefined) continue;
      assertMatch(text, sentence);
      assert(!/secret|os error/.test(text), text);
    }
  }
});
