// Requests and answers on the wire: heads that are none, bodies however they are cut, lengths and
// chunks of answers, connections that stay and connections that close.

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { Handler } from "../../../../server/http/connection/mod.ts";
import { nextTask } from "../../../../engine/mod.ts";
import { writeResponse } from "../../../../server/http/connection/response_writer.ts";
import { post, type RawClient, serve } from "./raw_client.ts";

const GET = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";

const echo: Handler = async (request) => new Response(await request.text());

async function withClient(
  handler: Handler,
  test: (client: RawClient) => Promise<void>,
): Promise<void> {
  await using server = serve(handler);
  using client = await server.connect();
  await test(client);
}

const CRLF = "\r\n";
const heads: [name: string, head: string, status: number, words: string][] = [
  ["no version", "GET /\r\n\r\n", 400, "first line"],
  ["HTTP/0.9", "GET / HTTP/0.9\r\n\r\n", 505, "HTTP/0"],
  ["HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505, "HTTP/2"],
  ["two spaces", "GET  / HTTP/1.1\r\nHost: a\r\n\r\n", 400, "first line"],
  ["a method that is no token", "G@T / HTTP/1.1\r\nHost: a\r\n\r\n", 400, "first line"],
  ["bytes beyond ASCII in the address", "GET /\xe9 HTTP/1.1\r\nHost: a\r\n\r\n", 400, "first line"],
  ["a relative address", "GET api HTTP/1.1\r\nHost: a\r\n\r\n", 400, "address"],
  ["no Host", "GET / HTTP/1.1\r\n\r\n", 400, "Host is missing"],
  ["two Hosts", "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", 400, "Host is given twice"],
  ["a bad Host", "GET / HTTP/1.1\r\nHost: a b\r\n\r\n", 400, "Host"],
  ["a field without a colon", "GET / HTTP/1.1\r\nHost: a\r\nX\r\n\r\n", 400, "after host"],
  ["a space before the colon", "GET / HTTP/1.1\r\nHost : a\r\n\r\n", 400, "malformed header"],
  ["a folded field", "GET / HTTP/1.1\r\nHost: a\r\nX: b\r\n c\r\n\r\n", 400, "after x"],
  ["NUL in a field", "GET / HTTP/1.1\r\nHost: a\r\nX: \0\r\n\r\n", 400, "malformed header"],
  ["a bare line feed", "GET / HTTP/1.1\r\nHost: a\nX: b\r\n\r\n", 400, "malformed header"],
  ["equal lengths", length("5\r\nContent-Length: 5"), 400, "Content-Length is given twice"],
  ["different lengths", length("5\r\nContent-Length: 6"), 400, "Content-Length is given twice"],
  ["a list of lengths", length("5, 5"), 400, 'must be a number of bytes, not "5, 5"'],
  ["a signed length", length("+5"), 400, "must be a number of bytes"],
  ["a length in hexadecimal", length("0x5"), 400, "must be a number of bytes"],
  ["a length of 30 digits", length("9".repeat(30)), 400, "must be a number of bytes"],
  ["length and chunks", length("5\r\nTransfer-Encoding: chunked"), 400, "does not go with"],
  ["an unknown coding", coding("gzip, chunked"), 400, 'must be chunked, not "gzip, chunked"'],
  ["chunks twice", coding("chunked\r\nTransfer-Encoding: chunked"), 400, "given twice"],
  ["an unknown expectation", length("5\r\nExpect: tea"), 417, "tea"],
  ["CONNECT", "CONNECT a:80 HTTP/1.1\r\nHost: a:80\r\n\r\n", 405, "CONNECT"],
  ["a long address", `GET /${"a".repeat(70_000)} HTTP/1.1\r\nHost: a\r\n\r\n`, 414, "longer than"],
  ["a long field", `GET / HTTP/1.1\r\nHost: a\r\nX: ${"a".repeat(70_000)}\r\n\r\n`, 431, "exceed"],
  [
    "many fields",
    `GET / HTTP/1.1\r\nHost: a\r\n${"X: a\r\n".repeat(300)}\r\n`,
    431,
    "more than 256",
  ],
];

function length(value: string): string {
  return `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${value}\r\n\r\nhello`;
}

function coding(value: string): string {
  return `POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: ${value}\r\n\r\n5\r\nhello\r\n0\r\n\r\n`;
}

Deno.test("what is no request is answered with a status and a sentence, and no request follows", async (t) => {
  for (const [name, head, status, words] of heads) {
    await t.step(name, async () => {
      let calls = 0;
      await withClient(() => (calls++, new Response("reached")), async (client) => {
        await client.send(Uint8Array.from(head + GET, (character) => character.charCodeAt(0)));
        const answer = await client.answer();
        assertEquals(answer.status, status);
        assertStringIncludes(JSON.parse(answer.body).error, words);
        assert(await client.closes());
        assertEquals(calls, 0);
      });
    });
  }
});

Deno.test("a request says where it goes: by its target, by Host, by neither in HTTP/1.0", async () => {
  const where: Handler = ({ url, headers }) => new Response(`${url} ${headers.get("host")}`);
  const cases = [
    ["GET /a?b HTTP/1.1\r\nHost: localhost:80", "http://localhost/a?b localhost:80"],
    ["GET http://other:81/a HTTP/1.1\r\nHost: localhost", "http://other:81/a other:81"],
    ["OPTIONS * HTTP/1.1\r\nHost: localhost", "http://localhost/ localhost"],
    ["GET //evil/a HTTP/1.1\r\nHost: localhost", "http://localhost//evil/a localhost"],
    ["GET /a HTTP/1.1\r\nHost: localhost/b?", "http://localhost/a localhost/b?"],
    ["\r\nGET /a HTTP/1.1\r\nHost: localhost", "http://localhost/a localhost"],
  ];
  for (const [head, expected] of cases) {
    await withClient(where, async (client) => {
      await client.send(`${head}\r\n\r\n`);
      assertEquals((await client.answer()).body, expected);
    });
  }
  await withClient(where, async (client) => {
    await client.send("GET /a HTTP/1.0\r\n\r\n");
    assertStringIncludes(await client.rest(), "http://localhost/a null");
  });
});

Deno.test("bodies are read whole however they are cut, and the next request follows", async () => {
  const chunked = "5;name=value\r\nhello\r\n1\r\n \r\n00A\r\n0123456789\r\n0\r\nTrailer: x\r\n\r\n";
  const head = (framing: string) => `POST / HTTP/1.1\r\nHost: localhost\r\n${framing}\r\n\r\n`;
  const requests: [text: string, body: string][] = [
    [head("Transfer-Encoding: Chunked") + chunked, "hello 0123456789"],
    [head("Content-Length: 5") + "hello", "hello"],
    [head("Content-Length: 0"), ""],
    [head("Transfer-Encoding: chunked") + "0\r\n\r\n", ""],
  ];
  for (const pieces of [1, 3, 1000]) {
    await withClient(echo, async (client) => {
      for (const [text, body] of requests) {
        const size = Math.ceil(text.length / pieces);
        for (let at = 0; at < text.length; at += size) {
          await client.send(text.slice(at, at + size));
          if (pieces > 1) await new Promise((resolve) => setTimeout(resolve));
        }
        assertEquals((await client.answer()).body, body);
      }
    });
  }
});

Deno.test("chunks that are none get 400, and no request follows", async (t) => {
  const faults = [
    "z\r\n",
    "-1\r\n",
    "0x5\r\nhello",
    "5\r\nhello!\r\n",
    "5\nhello\r\n",
    `${"0".repeat(20)}5\r\n`,
    `5;${"a".repeat(9000)}\r\n`,
    `0\r\n${"X: a\r\n".repeat(2000)}\r\n`,
    "\r\n\r\n",
  ];
  for (const fault of faults) {
    await t.step(JSON.stringify(fault.slice(0, 20)), async () => {
      const answered: number[] = [];
      const handler: Handler = async (request) => {
        const failure = await request.text().then(() => undefined, (error) => error);
        answered.push(failure?.status);
        return new Response(failure?.message, { status: failure?.status ?? 200 });
      };
      await withClient(handler, async (client) => {
        await client.send(coding("chunked").replace("5\r\nhello\r\n0\r\n\r\n", fault) + GET);
        const answer = await client.answer();
        assertEquals(answer.status, 400);
        assertStringIncludes(answer.body, "malformed chunk");
        assert(await client.closes());
        assertEquals(answered, [400]);
      });
    });
  }
});

Deno.test("a body in chunks of one byte costs no object for each", async () => {
  await withClient(echo, async (client) => {
    const count = 100_000;
    await client.send(coding("chunked").split("\r\n\r\n")[0]! + CRLF + CRLF);
    await client.send("1\r\na\r\n".repeat(count) + "0\r\n\r\n");
    assertEquals((await client.answer()).body.length, count);
  });
});

Deno.test("an answer that is whole says its length, a stream comes in chunks", async () => {
  const stream = async function* () {
    yield "one ";
    await new Promise((resolve) => setTimeout(resolve, 5));
    yield "";
    yield "two";
  };
  const answers: Record<string, () => Response> = {
    "/text": () => new Response("é"),
    "/empty": () => new Response(null),
    "/none": () => new Response(null, { status: 204 }),
    "/stream": () =>
      new Response(ReadableStream.from(stream()).pipeThrough(new TextEncoderStream())),
    "/large": () => new Response("x".repeat(3_000_000)),
  };
  const handler: Handler = ({ url }) => answers[new URL(url).pathname]!();
  await withClient(handler, async (client) => {
    const ask = async (method: string, path: string) => {
      await client.send(`${method} ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
      return await client.answer();
    };
    const text = await ask("GET", "/text");
    assert(/\r\ncontent-length: 2\r\n/.test(text.head) && /\r\ndate: \w{3}, /.test(text.head));
    assertStringIncludes((await ask("GET", "/empty")).head, "\r\ncontent-length: 0\r\n");
    assert(!/content-length|transfer-encoding/.test((await ask("GET", "/none")).head));
    const streamed = await ask("GET", "/stream");
    assertEquals(streamed.body, "one two");
    assertStringIncludes(streamed.head, "\r\ntransfer-encoding: chunked\r\n");
    assertEquals((await ask("GET", "/large")).body.length, 3_000_000);
    for (const path of Object.keys(answers)) assertEquals((await ask("HEAD", path)).body, "");
    assertEquals((await ask("GET", "/text")).status, 200);
  });
});

Deno.test("to HTTP/1.0 a stream is sent without chunks until the connection ends", async () => {
  const stream = async function* () {
    yield "one ";
    await new Promise((resolve) => setTimeout(resolve, 5));
    yield "two";
  };
  const body = () => ReadableStream.from(stream()).pipeThrough(new TextEncoderStream());
  await withClient(() => new Response(body()), async (client) => {
    await client.send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    const text = await client.rest();
    assert(!/transfer-encoding/.test(text) && text.endsWith("\r\n\r\none two"), text);
  });
});

Deno.test("a stream that fails ends the connection without its last chunk", async () => {
  const stream = async function* () {
    yield new TextEncoder().encode("one");
    await new Promise((resolve) => setTimeout(resolve, 5));
    throw new Error("the source is gone");
  };
  await withClient(() => new Response(ReadableStream.from(stream())), async (client) => {
    await client.send(GET);
    assert((await client.rest()).endsWith("\r\n\r\n3\r\none\r\n"));
  });
});

Deno.test("each piece of a stream is a chunk and a write of its own, also where many are at hand", async () => {
  const pieces = Array.from({ length: 300 }, (_, index) => `{"line":${index}}\n`);
  pieces[7] = "x".repeat(200_000);
  const stream = ReadableStream.from(pieces.map((text) => new TextEncoder().encode(text)));
  const written: string[] = [];
  const sink = {
    write: (bytes: Uint8Array) => {
      written.push(new TextDecoder().decode(bytes));
      return Promise.resolve();
    },
  };
  const { signal } = new AbortController();
  const options = { method: "GET", isModern: true, keepAlive: true, signal };
  assertEquals(await writeResponse(sink, new Response(stream), options), true);
  const [head, ...chunks] = written;
  assert(head!.endsWith("\r\n\r\n"));
  const expected = pieces.map((text) => `${text.length.toString(16)}\r\n${text}\r\n`);
  assertEquals(chunks, [...expected, "0\r\n\r\n"]);
});

Deno.test("a long body that is at hand, for a client that takes all at once, lets others have turns", async () => {
  let pieces = 0;
  const stream = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (++pieces > 200) controller.close();
      else controller.enqueue(new Uint8Array(64 * 2 ** 10));
    },
  }, { highWaterMark: 0 });
  const { signal } = new AbortController();
  const options = { method: "GET", isModern: true, keepAlive: true, signal };
  const sink = { write: () => Promise.resolve() };
  let isWritten = false;
  const written = writeResponse(sink, new Response(stream), options).then(() => isWritten = true);
  let most = 0;
  for (let before = pieces; !isWritten; before = pieces) {
    await nextTask();
    most = Math.max(most, pieces - before);
  }
  await written;
  assertEquals(pieces, 201);
  assert(most <= 4, `${most} pieces in one turn`);
});

Deno.test("pieces before a failure are sent, however large", async () => {
  const stream = async function* () {
    yield new TextEncoder().encode("x".repeat(200_000));
    await Promise.resolve();
    throw new Error("the source is gone");
  };
  await withClient(() => new Response(ReadableStream.from(stream())), async (client) => {
    await client.send(GET);
    const [, body] = (await client.rest()).split("\r\n\r\n");
    assertEquals(body, `30d40\r\n${"x".repeat(200_000)}\r\n`);
  });
});

Deno.test("requests that are sent together are answered one after the other", async () => {
  let running = 0;
  const handler: Handler = async ({ url }) => {
    assertEquals(++running, 1);
    await new Promise((resolve) => setTimeout(resolve, 2));
    running--;
    return new Response(url);
  };
  await withClient(handler, async (client) => {
    const paths = Array.from({ length: 20 }, (_, index) => `/${index}`);
    await client.send(paths.map((path) => post(index(path), { path })).join(""));
    for (const path of paths) {
      assertEquals((await client.answer()).body, `http://localhost${path}`);
    }
  });
});

function index(path: string): number {
  return Number(path.slice(1)) * 100;
}

Deno.test("a client that expects 100 Continue gets it when its body is wanted, and else an answer", async () => {
  const head = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n";
  await withClient(echo, async (client) => {
    await client.send(head);
    assertEquals((await client.answer()).status, 100);
    await client.send("hello");
    assertEquals((await client.answer()).body, "hello");
    await client.send(GET);
    assertEquals((await client.answer()).status, 200);
  });
  await withClient(() => new Response("no", { status: 401 }), async (client) => {
    await client.send(head);
    const { status, head: answered } = await client.answer();
    assertEquals(status, 401);
    assertStringIncludes(answered, "connection: close");
  });
});

Deno.test("a small body that nobody reads is passed over, a large one ends the connection", async () => {
  const handler: Handler = () => new Response("unread", { status: 404 });
  await withClient(handler, async (client) => {
    for (const size of [0, 100, 200_000]) {
      await client.send(post(size));
      assertEquals((await client.answer()).status, 404);
    }
    await client.send(post(20_000_000));
    const { status, head } = await client.answer();
    assertEquals(status, 404);
    assertStringIncludes(head, "connection: close");
    assert(await client.closes());
  });
});

Deno.test("Connection: close is kept, and said", async () => {
  await withClient(echo, async (client) => {
    await client.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: Foo, Close\r\n\r\n");
    assertStringIncludes((await client.answer()).head, "connection: close");
    assert(await client.closes());
  });
});
