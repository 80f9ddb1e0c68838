// That a client which leaves is noticed at once, whatever it sent before and whatever it waits for.

import { assert, assertEquals } from "@std/assert";
import { until } from "../../../until.ts";
import { post, type RawClient, serve } from "./raw_client.ts";

/** More than noticing takes on any machine, less than the server waits for a client that says nothing. */
const SOON_MILLISECONDS = 20_000;

/** How the request reaches the server. */
type Way = "in one piece" | "head first" | "in chunks" | "in many pieces";
const WAYS: Way[] = ["in one piece", "head first", "in chunks", "in many pieces"];
const SIZES = [0, 10, 600, 100_000, 2_000_000];

async function sendIn(client: RawClient, way: Way, size: number): Promise<void> {
  const text = post(size, { chunked: way === "in chunks" });
  const headEnd = text.indexOf("\r\n\r\n") + 4;
  if (way === "head first") {
    await client.send(text.slice(0, headEnd));
    await new Promise((resolve) => setTimeout(resolve, 5));
    await client.send(text.slice(headEnd));
  } else if (way === "in many pieces") {
    const piece = Math.ceil(text.length / 20);
    for (let at = 0; at < text.length; at += piece) {
      await client.send(text.slice(at, at + piece));
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  } else {
    await client.send(text);
  }
}

/** Runs a request that never ends by itself; fails unless it is aborted after its client left. */
async function expectAbort(
  answer: (request: Request) => Response | undefined,
  act: (client: RawClient) => Promise<void>,
  leave: (client: RawClient) => unknown = (client) => client[Symbol.dispose](),
): Promise<void> {
  const aborted = Promise.withResolvers<void>();
  let running = false;
  await using server = serve(async (request) => {
    await request.arrayBuffer();
    running = true;
    const gone = Promise.withResolvers<void>();
    request.signal.addEventListener("abort", () => {
      aborted.resolve();
      gone.resolve();
    });
    const response = answer(request);
    if (response) return response;
    await gone.promise;
    return new Response("late");
  });
  using client = await server.connect();
  await act(client);
  await until(() => running);
  await leave(client);
  const timer = setTimeout(() => aborted.reject(new Error("it went unnoticed")), SOON_MILLISECONDS);
  try {
    await aborted.promise;
  } finally {
    clearTimeout(timer);
  }
}

Deno.test("a client that leaves before its answer is noticed at once, whatever its body", async (t) => {
  for (const way of WAYS) {
    for (const size of SIZES) {
      await t.step(`${size} bytes ${way}`, async () => {
        await expectAbort(() => undefined, (client) => sendIn(client, way, size));
      });
    }
  }
});

Deno.test("a client that leaves within a stream is noticed though nothing is written", async () => {
  for (const size of SIZES) {
    const silent = () =>
      new Response(
        new ReadableStream({
          start: (controller) => controller.enqueue(new TextEncoder().encode("first")),
        }),
      );
    await expectAbort(silent, async (client) => {
      await sendIn(client, "head first", size);
      await until(() => true);
    });
  }
});

Deno.test("a client that closes its sending side, or resets the connection, has left", async () => {
  const send = (client: RawClient) => sendIn(client, "head first", 600);
  await expectAbort(() => undefined, send, (client) => client.connection.closeWrite());
});

Deno.test("a client that leaves is noticed in its second request, and behind a pipelined one", async () => {
  let calls = 0;
  const second = () => ++calls === 1 ? new Response("first") : undefined;
  await expectAbort(second, async (client) => {
    await client.send(post(600));
    assertEquals((await client.answer()).body, "first");
    await client.send(post(100_000));
    await until(() => calls === 2);
  });
  await expectAbort(() => undefined, (client) => client.send(post(600) + post(100_000)));
});

Deno.test("the source of a stream is cancelled when its client leaves", async () => {
  const cancelled = Promise.withResolvers<void>();
  const stream = () =>
    new Response(
      new ReadableStream({
        async pull(controller) {
          controller.enqueue(new TextEncoder().encode("word "));
          await new Promise((resolve) => setTimeout(resolve, 5));
        },
        cancel: () => cancelled.resolve(),
      }),
    );
  await expectAbort(stream, (client) => client.send(post(600)));
  await cancelled.promise;
});

Deno.test("an answer that is whole reaches a client that closed its sending side", async () => {
  await using server = serve(() => new Response("well"));
  using client = await server.connect();
  await client.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  await client.connection.closeWrite();
  const text = await client.rest();
  assert(text.startsWith("HTTP/1.1 200 OK\r\n") && text.endsWith("\r\n\r\nwell"), text);
});
