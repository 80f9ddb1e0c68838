// That nobody can hold a server by sending slowly or not at all, by not reading, or by coming in
// numbers; and that it lives on where the system has no more files.

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { fileURLToPath } from "node:url";
import { until } from "../../../until.ts";
import { post, type RawClient, serve } from "./raw_client.ts";

const GET = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
const ok = () => new Response("ok");

/** A clock of the server's that the test moves: on a busy machine anything may come late. */
class Clock implements Disposable {
  readonly #real = performance.now;
  #now = 0;

  constructor() {
    performance.now = () => this.#now;
  }

  pass(milliseconds: number): void {
    this.#now += milliseconds;
  }

  /** Lets time pass until something is settled. */
  async passUntil<T>(promise: Promise<T>): Promise<T> {
    const timer = setInterval(() => this.pass(10), 1);
    return await promise.finally(() => clearInterval(timer));
  }

  [Symbol.dispose](): void {
    performance.now = this.#real;
  }
}

Deno.test("a connection that idles is closed without a word, before and after a request", async () => {
  using clock = new Clock();
  await using server = serve(ok, { patience: { idle: 40 } });
  for (const requests of [0, 2]) {
    using client = await server.connect();
    for (let sent = 0; sent < requests; sent++) {
      await client.send(GET);
      assertEquals((await client.answer()).body, "ok");
    }
    assertEquals(await clock.passUntil(client.rest()), "");
  }
  await until(() => server.server.connections === 0);
});

Deno.test("a head that comes a byte at a time gets 408", async () => {
  await using server = serve(ok, { patience: { head: 40 } });
  using client = await server.connect();
  const sending = drip(client, GET.repeat(100));
  assertStringIncludes(await client.rest(), "HTTP/1.1 408 ");
  await sending;
});

Deno.test("a body that stops gets 408, and one that keeps coming does not", async () => {
  let received = 0;
  const read = async (request: Request) => {
    try {
      for await (const piece of request.body!) received += piece.length;
      return ok();
    } catch (error) {
      return new Response((error as Error).message, {
        status: (error as { status: number }).status,
      });
    }
  };
  using clock = new Clock();
  await using server = serve(read, { patience: { body: 40 } });
  using stopping = await server.connect();
  await stopping.send(post(10).slice(0, -1));
  await until(() => received === 9);
  const text = await clock.passUntil(stopping.rest());
  assertStringIncludes(text, "HTTP/1.1 408 ");
  assert(text.endsWith("the request body did not come in time"), text);
  using slow = await server.connect();
  const request = post(10);
  const head = request.length - 10;
  await slow.send(request.slice(0, head));
  received = 0;
  for (let sent = 1; sent <= 10; sent++) {
    await slow.send(request.slice(head + sent - 1, head + sent));
    await until(() => received === sent);
    clock.pass(30); // Each comes in time, all of them do not.
    await new Promise((resolve) => setTimeout(resolve, 15)); // The server looks every 10 ms.
  }
  assertEquals((await slow.answer()).body, "ok");
});

Deno.test("a client that does not read its answer is left", async () => {
  let cancelled = false;
  const endless = () =>
    new Response(
      new ReadableStream({
        pull: (controller) => controller.enqueue(new Uint8Array(65536)),
        cancel: () => void (cancelled = true),
      }),
    );
  await using server = serve(endless, { patience: { answer: 60 } });
  using client = await server.connect();
  await client.send(GET);
  await until(() => cancelled && server.server.connections === 0);
});

Deno.test("a new connection takes the place of the one that idled longest", async () => {
  using clock = new Clock();
  await using server = serve(ok, { maxConnections: 3 });
  const clients: RawClient[] = [];
  for (let count = 0; count < 5; count++) {
    const client = await server.connect();
    clients.push(client);
    // The clock tells them apart, whenever one is found to idle, and each has its place for a moment.
    clock.pass(60);
    await client.send(GET);
    assertEquals((await client.answer()).body, "ok");
    clock.pass(60);
  }
  assertEquals(server.server.connections, 3);
  assertEquals(await Promise.all(clients.slice(0, 2).map((client) => client.rest())), ["", ""]);
  await clients[4]!.send(GET);
  assertEquals((await clients[4]!.answer()).body, "ok");
  for (const client of clients) client[Symbol.dispose]();
});

Deno.test("a new connection takes the place of a head, a body or a reader that does not go on", async (t) => {
  const endless = () =>
    new Response(
      new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(65536)) }),
    );
  const handler = async (request: Request) => {
    if (request.method === "POST") await request.bytes().catch(() => {});
    return request.url.endsWith("/endless") ? endless() : ok();
  };
  const cases: [name: string, text: string, rest: string | undefined, isAtOnce: boolean][] = [
    ["half a head", GET.slice(0, -2), GET.slice(-2), true],
    ["half a body", post(10).slice(0, -1), post(10).slice(-1), false],
    ["a reader", GET.replace("/", "/endless"), undefined, false],
  ];
  for (const [name, text, rest, isAtOnce] of cases) {
    await t.step(name, async () => {
      using clock = new Clock();
      await using server = serve(handler, { maxConnections: 2 });
      const held: RawClient[] = [];
      for (let count = 0; count < 2; count++) {
        held.push(await server.connect());
        await held[count]!.send(text);
        await until(() => server.server.connections === count + 1);
        // What was sent has been taken, and the clock tells them apart.
        await new Promise((resolve) => setTimeout(resolve, 100));
        clock.pass(60);
      }
      if (!isAtOnce) {
        using early = await server.connect();
        assertEquals((await early.answer()).status, 503);
        clock.pass(1000);
      }
      using client = await server.connect();
      await client.send(GET);
      assertEquals((await client.answer()).body, "ok");
      assertEquals(server.server.connections, 2);
      // The first of them has gone, and the other is there.
      if (rest !== undefined) {
        assertEquals(await held[0]!.rest(), "");
        await held[1]!.send(rest);
        assertEquals((await held[1]!.answer()).status, 200);
      }
      for (const client of held) client[Symbol.dispose]();
    });
  }
});

Deno.test("half a head that has had its time gives way before a connection that has just come", async () => {
  using clock = new Clock();
  await using server = serve(ok, { maxConnections: 3 });
  const held: RawClient[] = [];
  for (let count = 0; count < 3; count++) {
    held.push(await server.connect());
    await held[count]!.send(GET.slice(0, -2));
  }
  await new Promise((resolve) => setTimeout(resolve, 100));
  clock.pass(60);
  // Time stands still from here on: nobody may wait for another to have been there for a while.
  for (let count = 0; count < 3; count++) held.push(await server.connect());
  for (const client of held.slice(0, 3)) assertEquals(await client.rest(), "");
  await held[5]!.send(GET);
  assertEquals((await held[5]!.answer()).body, "ok");
  for (const client of held) client[Symbol.dispose]();
});

Deno.test("where no connection idles, those beyond the bound get 503 and when to come back", async () => {
  const gate = Promise.withResolvers<void>();
  let running = 0;
  const handler = async () => (running++, await gate.promise, ok());
  await using server = serve(handler, { maxConnections: 2 });
  const clients = await Promise.all([server.connect(), server.connect()]);
  for (const client of clients) await client.send(GET);
  await until(() => running === 2);
  using refused = await server.connect();
  const { status, head, body } = await refused.answer();
  assertEquals(status, 503);
  assertMatch(head, /\r\nretry-after: 1\r\n/);
  assertStringIncludes(JSON.parse(body).error, "server busy");
  gate.resolve();
  for (const client of clients) {
    assertEquals((await client.answer()).body, "ok");
    client[Symbol.dispose]();
  }
  await until(() => server.server.connections === 0);
  assertEquals(await (await fetch(server.url)).text(), "ok");
});

Deno.test("shutdown lets answers end, closes what idles, and accepts no more", async () => {
  const gate = Promise.withResolvers<void>();
  let running = 0;
  const handler = async () => (running++, await gate.promise, ok());
  const server = serve(handler, { patience: { linger: 40 } });
  using busy = await server.connect();
  using idle = await server.connect();
  await busy.send(GET + GET);
  await until(() => running === 1 && server.server.connections === 2);
  const closed = server.server.shutdown();
  assertEquals(await idle.rest(), "");
  gate.resolve();
  const { body, head } = await busy.answer();
  assertEquals(body, "ok");
  assertStringIncludes(head, "connection: close");
  await closed;
  assertEquals(running, 1);
  assertEquals(await server.connect().then(() => "open", () => "refused"), "refused");
});

Deno.test({
  name: "a server whose system has no more files serves on, and leaves some for others",
  ignore: Deno.build.os === "windows",
  async fn() {
    const program = fileURLToPath(new URL("few_files_server.ts", import.meta.url));
    const command =
      `ulimit -n 60; exec "${Deno.execPath()}" run -A --no-check --no-lock "${program}"`;
    const child = new Deno.Command("sh", {
      args: ["-c", command],
      stdout: "piped",
      stderr: "null",
    });
    await using process = child.spawn();
    const output = process.stdout.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    const read = async (pattern: RegExp) => {
      while (!pattern.test(text)) {
        const { done, value } = await output.read();
        if (done) throw new Error(`Expected ${pattern} in ${text}`);
        text += value;
      }
      return pattern.exec(text)!;
    };
    const port = Number((await read(/port (\d+)\n/))[1]);
    const ask = async () => {
      const signal = AbortSignal.timeout(10_000);
      return await (await fetch(`http://127.0.0.1:${port}/`, { signal })).text();
    };
    const clients: Deno.TcpConn[] = [];
    for (let count = 0; count < 100; count++) clients.push(await Deno.connect({ port }));
    const [, held, left] = await read(/connections: there are (\d+), and (\d+) are left to models/);
    assert(Number(held) >= 4 && Number(left) >= 14, text);
    // All of the others idle, and workers can be started.
    assertEquals(await ask(), "started");
    for (const client of clients) client.close();
    for (let count = 0; count < 5; count++) assertEquals(await ask(), "started");
    process.kill();
    await output.cancel();
  },
});

async function drip(client: RawClient, text: string): Promise<void> {
  try {
    for (const character of text) {
      await client.send(character);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  } catch {
    // The server has closed.
  }
}
