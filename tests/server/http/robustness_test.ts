// What no client should send, over a real port: each gets a 4xx, and the server lives on.

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { AppOptions, Registry } from "../../../server/http/app_types.ts";
import { HttpServer } from "../../../server/http/connection/mod.ts";
import { type FakeModelOptions, measures, says, type Script } from "../fake_model.ts";
import { createTestApp, type TestApp } from "../test_app.ts";
import { until } from "../../until.ts";

interface Port extends TestApp {
  url: string;
  /** Sends text as it is and gives what comes back until the server closes. */
  send(text: string): Promise<string>;
  /** Sends text and hangs up. */
  sendAndClose(text: string): Promise<void>;
}

/** Serves an application while the test runs; then it must still answer, with nothing running. */
async function withPort(
  test: (port: Port) => Promise<void>,
  model: FakeModelOptions = {},
  options: Partial<AppOptions> = {},
): Promise<void> {
  const testApp = createTestApp(model, options);
  const { app, lines } = testApp;
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const server = new HttpServer(listener, app.fetch, { log: { warn() {} } });
  const { port } = server.addr;
  const url = `http://127.0.0.1:${port}`;
  const send = async (text: string) => {
    using connection = await Deno.connect({ port });
    // A server that has heard enough answers and closes while the rest is still being sent.
    const sent = writeWhole(connection, text).catch(() => {});
    let answer = "";
    try {
      for await (const bytes of connection.readable) answer += new TextDecoder().decode(bytes);
    } catch (error) {
      if (!(error instanceof Deno.errors.ConnectionReset)) throw error;
    }
    await sent;
    return answer;
  };
  const sendAndClose = async (text: string) => {
    using connection = await Deno.connect({ port });
    await writeWhole(connection, text);
  };
  try {
    await test({ ...testApp, url, send, sendAndClose });
    const metrics = await (await fetch(`${url}/metrics`)).text();
    assertStringIncludes(metrics, "\nquern_queue_length 0\n");
    assertEquals(lines.filter((line) => / 5\d\d /.test(line)), []);
  } finally {
    await server.shutdown();
  }
}

async function writeWhole(connection: Deno.Conn, text: string): Promise<void> {
  let rest = new TextEncoder().encode(text);
  while (rest.length > 0) rest = rest.subarray(await connection.write(rest));
}

const generate = (options: string) => `{"model":"tiny","prompt":"x","stream":false,${options}}`;
const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth);

/** Bodies that are no request, with part of the sentence that refuses them. */
const BODIES: [name: string, body: string | Uint8Array<ArrayBuffer>, sentence: string][] = [
  ["nothing", "", "missing request body"],
  ["a body cut in half", generate('"raw":true').slice(0, 20), "invalid JSON"],
  ["two bodies", generate('"raw":true').repeat(2), "invalid JSON"],
  ["JSON nested 100,000 deep", nested(100_000), "nested over 512 levels"],
  ["a format nested 100,000 deep", generate(`"format":${nested(100_000)}`), "nested over 512"],
  ["objects nested 600 deep", '{"a":'.repeat(600) + "1" + "}".repeat(600), "nested over 512"],
  ["invalid UTF-8", Uint8Array.of(0x22, 0xff, 0xfe, 0x22), "invalid JSON"],
  ["half a UTF-8 character", new TextEncoder().encode('"é').slice(0, 2), "invalid JSON"],
  ["UTF-16", Uint8Array.of(0xff, 0xfe, 0x7b, 0, 0x7d, 0), "invalid JSON"],
  ["bytes of gzip", Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0), "invalid JSON"],
  ["NaN", generate('"options":{"temperature":NaN}'), "invalid JSON"],
  ["Infinity", generate('"options":{"temperature":-Infinity}'), "invalid JSON"],
  ["1e999", generate('"options":{"temperature":1e999}'), 'option "temperature" must be'],
  ["-1e999", generate('"options":{"num_predict":-1e999}'), 'option "num_predict" must be'],
  ["an endless window", generate('"options":{"num_ctx":1e999}'), 'option "num_ctx" must be'],
  ["an endless keep_alive", generate('"keep_alive":1e999'), "keep_alive must be"],
  ["an endless keep_alive as text", generate('"keep_alive":"1e999"'), "keep_alive: time"],
  ["null", "null", "request body must be of type object"],
  ["a string", '"model"', "request body must be of type object"],
  ["a form", "model=tiny&prompt=x", "invalid JSON"],
  ["__proto__", '{"__proto__":{"model":"tiny"},"prompt":"x"}', "model is required"],
  ["constructor", '{"model":{"constructor":1}}', "model must be of type string"],
];

Deno.test("bodies that are no request get 400 on every endpoint that takes one", async (t) => {
  await withPort(async ({ url, loaded }) => {
    for (const [name, body, sentence] of BODIES) {
      await t.step(name, async () => {
        for (const path of ["/api/generate", "/api/chat"]) {
          const response = await fetch(url + path, { method: "POST", body });
          const { error } = await response.json();
          assertEquals([path, response.status], [path, 400]);
          assertStringIncludes(error, sentence);
          assert(!/\n| at .*:\d+:\d+/.test(error), error);
        }
        for (const path of ["/api/embed", "/v1/chat/completions", "/v1/messages"]) {
          const response = await fetch(url + path, { method: "POST", body });
          assertEquals([path, response.status], [path, 400]);
          await response.body!.cancel();
        }
      });
    }
    assertEquals(loaded.length, 0);
  });
});

Deno.test("a body of 100 MB gets 413 in the shape of its API, with and without a length", async () => {
  const body = new Uint8Array(100e6);
  await withPort(async ({ url }) => {
    const errors: Record<string, unknown> = {};
    for (const path of ["/api/chat", "/v1/chat/completions", "/v1/messages"]) {
      for (const sent of [body, new Blob([body]).stream()]) {
        const response = await fetch(url + path, { method: "POST", body: sent });
        assertEquals([path, response.status], [path, 413]);
        errors[path] = (await response.json()).error;
      }
    }
    const message = "the request body is larger than 33554432 bytes";
    assertEquals(errors["/api/chat"], message);
    assertEquals((errors["/v1/messages"] as { type: string }).type, "request_too_large");
    assertEquals((errors["/v1/chat/completions"] as { message: string }).message, message);
  });
});

Deno.test("a body of exactly 32 MiB is read", async () => {
  await withPort(async ({ url }) => {
    const text = generate('"raw":true');
    const body = text + " ".repeat(32 * 2 ** 20 - text.length);
    for (const sent of [body, new Blob([body]).stream()]) {
      const response = await fetch(`${url}/api/generate`, { method: "POST", body: sent });
      assertEquals(response.status, 200);
      assertEquals((await response.json()).response, "Hello");
    }
  });
});

Deno.test("the content type of a body is not asked for", async () => {
  await withPort(async ({ url }) => {
    for (const type of ["text/plain", "multipart/form-data", "image/png", "nonsense", ""]) {
      const init = { method: "POST", headers: { "content-type": type } };
      const response = await fetch(`${url}/api/generate`, {
        ...init,
        body: generate('"raw":true'),
      });
      assertEquals([type, response.status], [type, 200]);
      await response.body!.cancel();
    }
    const form = new FormData();
    form.set("model", "tiny");
    const response = await fetch(`${url}/api/generate`, { method: "POST", body: form });
    assertEquals(response.status, 400);
    await response.body!.cancel();
  });
});

const HOST = "Host: localhost\r\n";

/** Requests that are no HTTP, or that no client sends, with the statuses that may answer them. */
const REQUESTS: [name: string, text: string, status: RegExp][] = [
  ["a header of 2 MB", `GET / HTTP/1.1\r\n${HOST}X: ${"a".repeat(2e6)}\r\n\r\n`, /4(00|31)/],
  ["a thousand headers", `GET / HTTP/1.1\r\n${HOST}${"X: a\r\n".repeat(1000)}\r\n`, /4(00|31)/],
  ["a path of 200 kB", `GET /${"a".repeat(2e5)} HTTP/1.1\r\n${HOST}\r\n`, /4(00|04|14)/],
  ["an unknown method", `BREW /api/chat HTTP/1.1\r\n${HOST}\r\n`, /405/],
  ["TRACE", `TRACE /api/chat HTTP/1.1\r\n${HOST}\r\n`, /405/],
  ["CONNECT", `CONNECT evil.com:443 HTTP/1.1\r\nHost: evil.com:443\r\n\r\n`, /40[035]/],
  ["a negative length", `POST /api/chat HTTP/1.1\r\n${HOST}Content-Length: -1\r\n\r\n`, /400/],
  [
    "two ways to say the length",
    `POST /api/chat HTTP/1.1\r\n${HOST}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n`,
    /400/,
  ],
  ["two hosts", `GET / HTTP/1.1\r\n${HOST}Host: evil.com\r\n\r\n`, /40[03]/],
  ["a host with a path", `GET / HTTP/1.1\r\nHost: evil.com/?localhost\r\n\r\n`, /403/],
  ["a host that is none", `GET / HTTP/1.1\r\nHost: evil.com:x\r\n\r\n`, /400/],
  ["a path up the tree", `GET /../../etc/passwd HTTP/1.1\r\n${HOST}\r\n`, /404/],
  ["a path with NUL", `GET /api/tags%00 HTTP/1.1\r\n${HOST}\r\n`, /404/],
  ["a path that is no UTF-8", `GET /%zz%ff HTTP/1.1\r\n${HOST}\r\n`, /404/],
  ["a TLS handshake", "\x16\x03\x01\x02\x00\x01\r\n\r\n", /400/],
];

Deno.test("requests that are no HTTP, or no request, get a 4xx", async (t) => {
  await withPort(async ({ send }) => {
    for (const [name, text, status] of REQUESTS) {
      await t.step(name, async () => {
        const closing = text.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n");
        const [, answered] = /^HTTP\/1\.1 (\d+)/.exec(await send(closing)) ?? [];
        assert(answered && status.test(answered), `${answered} is not ${status}`);
      });
    }
  });
});

Deno.test("a connection that ends within a body ends the request, and is no fault of ours", async () => {
  await withPort(async ({ sendAndClose, lines }) => {
    await sendAndClose(`POST /api/chat HTTP/1.1\r\n${HOST}Content-Length: 100\r\n\r\n{"model":`);
    await until(() => lines.length === 1);
    await sendAndClose(
      `POST /api/chat HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\nff\r\n{"mo`,
    );
    await until(() => lines.length === 2);
    for (const line of lines) assertStringIncludes(line, "POST /api/chat 400 - ");
  });
});

const messages = [{ role: "user", content: "x" }];

/** Every route that works for long, and what it is asked. */
const WORK: [path: string, body: Record<string, unknown>][] = [
  ["/api/generate", { prompt: "x" }],
  ["/api/chat", { messages }],
  ["/v1/chat/completions", { messages }],
  ["/v1/completions", { prompt: "x" }],
  ["/v1/responses", { input: "x" }],
  ["/v1/responses/input_tokens", { input: "x" }],
  ["/v1/messages", { messages, max_tokens: 5 }],
  ["/v1/messages/count_tokens", { messages }],
  ["/api/embed", { input: "x" }],
  ["/api/embeddings", { prompt: "x" }],
  ["/v1/embeddings", { input: "x" }],
  ["/api/pull", {}],
  ["/api/push", {}],
];

Deno.test("a client that leaves ends what it asked for, on every route and with every body", async (t) => {
  let [begun, ended] = [0, 0];
  const untilAborted = async (signal: AbortSignal) => {
    begun++;
    const aborted = Promise.withResolvers<void>();
    signal.addEventListener("abort", () => aborted.resolve());
    if (!signal.aborted) await aborted.promise;
    ended++;
    return signal.throwIfAborted();
  };
  async function* transfer(_store: unknown, _name: string, { signal }: { signal: AbortSignal }) {
    yield { status: "begun" };
    await untilAborted(signal);
  }
  const registry = { pull: transfer, push: transfer } as unknown as Registry;
  const model: FakeModelOptions = {
    script: async function* ({ signal }) {
      yield { type: "start", promptTokens: 1, cachedTokens: 0 };
      await untilAborted(signal!);
    },
    embedder: async ({ signal }) => (await untilAborted(signal!), measures({ inputs: [] })),
  };
  await withPort(
    async ({ url, loaded }) => {
      await (await fetch(`${url}/api/generate`, { method: "POST", body: '{"model":"tiny"}' }))
        .text();
      loaded[0]!.countTokens = async ({ signal }) => (await untilAborted(signal!), 0);
      for (const [path, asked] of WORK) {
        await t.step(path, async () => {
          for (const size of [0, 600, 100_000]) {
            for (const stream of [false, true]) {
              const body = JSON.stringify({ model: "tiny", stream, ...asked });
              const client = new AbortController();
              const init = { method: "POST", body: body + " ".repeat(size), signal: client.signal };
              const answer = fetch(url + path, init).then(({ body }) => body!.pipeTo(nowhere()));
              answer.catch(() => {});
              await until(() => begun === ended + 1);
              client.abort();
              await until(() => begun === ended);
            }
          }
        });
      }
    },
    model,
    { registry },
  );
});

function nowhere(): WritableStream<Uint8Array> {
  return new WritableStream();
}

Deno.test("a client that leaves while it waits for the model, or for its first token, ends its request", async () => {
  const gate = Promise.withResolvers<void>();
  const script: Script = async function* ({ signal }) {
    const aborted = new Promise((resolve) => signal!.addEventListener("abort", resolve));
    await Promise.race([aborted, gate.promise]);
    if (signal!.aborted) return;
    yield* says("late")({ messages: [] });
  };
  await withPort(async ({ url, lines }) => {
    const clients = Array.from({ length: 8 }, () => new AbortController());
    const body = generate('"raw":true') + " ".repeat(100_000);
    const ask = async ({ signal }: AbortController) => {
      const answer = await fetch(`${url}/api/generate`, { method: "POST", body, signal });
      return (await answer.json()).response;
    };
    const waiting = async () => {
      const metrics = await (await fetch(`${url}/metrics`)).text();
      return Number(/\nquern_queue_length (\d+)/.exec(metrics)![1]);
    };
    const answers = clients.map((client) => ask(client).catch(() => "gone"));
    await until(async () => await waiting() === clients.length);
    for (const client of clients.slice(1)) client.abort();
    const canceled = () => lines.filter((line) => / 499 /.test(line)).length;
    await until(() => canceled() === clients.length - 1);
    assertEquals(await waiting(), 1);
    gate.resolve();
    assertEquals(await Promise.all(answers), ["late", ...Array(7).fill("gone")]);
  }, { script });
});

Deno.test("names of models never lead out of the store", async () => {
  const { post, loaded } = createTestApp();
  const names = [
    "../tiny",
    "../../etc/passwd",
    "..",
    ".",
    "a/../b",
    "a/./b",
    "/etc/passwd",
    "/tiny",
    "tiny/",
    "..\\tiny",
    "C:\\tiny",
    "tiny\0",
    "tiny\n",
    "tiny\0.gguf",
    "tiny:..",
    "tiny:../../x",
    "%2e%2e/tiny",
    "~/tiny",
    "file:///tiny",
    "\u2025/tiny",
    "../x.gguf",
    "models/../../x.gguf",
    "./x.gguf",
    "x/y.gguf/../../z.gguf",
    "/models/../etc/x.gguf",
    "/models/x\0/y.gguf",
    "/models/x\n/y.gguf",
    "//host/share/x.gguf",
    "\\\\host\\share\\x.gguf",
    "..\\..\\x.gguf",
    "C:\\..\\x.gguf",
    "C:x\\y.gguf",
    "a".repeat(500),
  ];
  for (const path of ["/api/chat", "/api/generate", "/api/embed", "/api/embeddings"]) {
    for (const model of names) {
      const response = await post(path, { model, prompt: "x", input: "x", messages: [] });
      assertEquals([path, model, response.status], [path, model, 400]);
      assertEquals(await response.json(), { error: "invalid model name" });
    }
  }
  assertEquals(loaded.length, 0);
});
