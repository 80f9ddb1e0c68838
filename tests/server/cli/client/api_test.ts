// The client of the HTTP API: answers, refusals, streams that are cut anywhere or fail, cancellation.

import { assert, assertEquals, assertRejects } from "@std/assert";
import {
  type Api,
  ApiError,
  ConnectionError,
  createApi,
} from "../../../../server/cli/client/api.ts";

/** An API whose server answers so. */
function apiOf(answer: (request: Request) => Response | Promise<Response>): Api {
  return createApi({ inProcess: false, url: "http://box:1", headers: { key: "k" }, send: answer });
}

/** A body of these pieces; without an end if it stays open. */
function bodyOf(pieces: (string | Uint8Array)[], onCancel?: () => void): ReadableStream {
  const encoder = new TextEncoder();
  return new ReadableStream({
    start(controller) {
      for (const piece of pieces) {
        controller.enqueue(typeof piece === "string" ? encoder.encode(piece) : piece);
      }
      if (!onCancel) controller.close();
    },
    cancel: onCancel ?? (() => {}),
  });
}

const collect = (api: Api, signal?: AbortSignal) =>
  Array.fromAsync<unknown>(api.stream("/api/pull", {}, signal));

Deno.test("json() sends GET, POST and DELETE with the headers of the API", async () => {
  const asked: unknown[] = [];
  const api = apiOf(async (request) => {
    const { method, url, headers } = request;
    asked.push([method, url, headers.get("key"), await request.text()]);
    return method === "DELETE" ? new Response() : Response.json({ ok: 1 });
  });
  assertEquals(await api.json("/a"), { ok: 1 });
  assertEquals(await api.json("/b", { x: 1 }), { ok: 1 });
  assertEquals(await api.json("/c", { y: 2 }, { method: "DELETE" }), undefined);
  assertEquals(asked, [
    ["GET", "http://box:1/a", "k", ""],
    ["POST", "http://box:1/b", "k", '{"x":1}'],
    ["DELETE", "http://box:1/c", "k", '{"y":2}'],
  ]);
});

Deno.test("json() and stream() throw what the server says, with its status", async () => {
  const cases: [Response, number, string][] = [
    [Response.json({ error: "model 'x' not found" }, { status: 404 }), 404, "model 'x' not found"],
    [new Response("oops", { status: 502 }), 502, "The server answered with status 502 oops"],
    [new Response(null, { status: 500 }), 500, "The server answered with status 500"],
    [
      Response.json({ error: { message: "no" } }, { status: 400 }),
      400,
      'The server answered with status 400 {"error":{"message":"no"}}',
    ],
  ];
  for (const [response, status, message] of cases) {
    for (const ask of [(api: Api) => api.json("/a"), (api: Api) => collect(api)]) {
      const error = await assertRejects(() => ask(apiOf(() => response.clone())), ApiError);
      assertEquals([error.status, error.message], [status, message]);
    }
  }
});

Deno.test("a request that gets no answer says where it went", async () => {
  const api = apiOf(() => Promise.reject(new TypeError("connection refused")));
  const message = "The connection to the server at http://box:1 failed: connection refused";
  for (const ask of [() => api.json("/a"), () => collect(api), () => api.fetch("/a")]) {
    assertEquals((await assertRejects(ask, ConnectionError)).message, message);
  }
});

Deno.test("stream() reads records that are cut anywhere", async () => {
  const bytes = new TextEncoder().encode('{"text":"schön 模"}\n\n{"n":2}\r\n{"done":true}');
  const expected = [{ text: "schön 模" }, { n: 2 }, { done: true }];
  for (let cut = 0; cut <= bytes.length; cut++) {
    const pieces = [bytes.slice(0, cut), bytes.slice(cut)];
    assertEquals(await collect(apiOf(() => new Response(bodyOf(pieces)))), expected);
  }
});

Deno.test("stream() ends with a status of success too, and fails without a last record", async () => {
  const success = apiOf(() => new Response('{"status":"a"}\n{"status":"success"}\n'));
  assertEquals(await collect(success), [{ status: "a" }, { status: "success" }]);
  for (const text of ["", '{"status":"a"}\n', '{"done":false}\n', '{"status":"a"}\n{"sta']) {
    await assertRejects(() => collect(apiOf(() => new Response(text))), ConnectionError);
  }
});

Deno.test("stream() throws a record that tells of an error, after those before it", async () => {
  const api = apiOf(() => new Response('{"n":1}\n{"error":"no room"}\n{"done":true}\n'));
  const seen: unknown[] = [];
  const error = await assertRejects(async () => {
    for await (const record of api.stream("/a", {})) seen.push(record);
  }, ApiError);
  assertEquals([seen, error.message, error.status], [[{ n: 1 }], "no room", 500]);
});

Deno.test("stream() ends the request when its reader stops or its signal aborts", async () => {
  let cancelled = 0;
  const api = apiOf(() => new Response(bodyOf(['{"n":1}\n'], () => cancelled++)));
  for await (const _ of api.stream("/a", {})) break;
  assertEquals(cancelled, 1);

  const abort = new AbortController();
  const records = api.stream("/a", {}, abort.signal);
  await records.next();
  const waiting = records.next();
  abort.abort();
  const error = await assertRejects(() => waiting, DOMException);
  assertEquals([error.name, cancelled], ["AbortError", 2]);
  assert(abort.signal.aborted);
});
