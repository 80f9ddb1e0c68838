// Requests that come in numbers begin one after the other, so that those which are answered at once
// come between them. StartQueue of the event loop are counted, for seconds say more of the machine.

import { fileURLToPath } from "node:url";
import { assert, assertEquals } from "@std/assert";
import { StartQueue } from "../../../../server/http/connection/server.ts";
import { isUrgent } from "../../../../server/http/mod.ts";
import { post, serve } from "./raw_client.ts";

const MANY = 300;
const HEALTH = "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n";

/** A server that counts, and how many requests had begun when /health was asked for. */
function counting() {
  const counts = { begun: 0, before: -1 };
  const server = serve((request) => {
    if (request.url.endsWith("/health")) counts.before = counts.begun;
    else counts.begun++;
    return new Response("ok");
  }, { isUrgent });
  return { server, counts };
}

Deno.test("/health is answered among requests that come at once on open connections", async () => {
  const { server, counts } = counting();
  await using _server = server;
  const clients = await Promise.all(Array.from({ length: MANY + 1 }, () => server.connect()));
  try {
    await Promise.all(clients.map(async (client, i) => {
      await client.send(i < MANY ? post(2) : HEALTH);
      assertEquals((await client.answer()).status, 200);
    }));
  } finally {
    for (const client of clients) client[Symbol.dispose]();
  }
  assertEquals(counts.begun, MANY);
  assert(counts.before < MANY / 2, `${counts.before} of ${MANY} had begun before`);
});

Deno.test("/health is answered among requests that come at once on new connections", async () => {
  const { server, counts } = counting();
  await using _server = server;
  await Promise.all(Array.from({ length: MANY + 1 }, async (_, i) => {
    using client = await server.connect();
    await client.send(i < MANY ? post(2) : HEALTH);
    assertEquals((await client.answer()).status, 200);
  }));
  assertEquals(counts.begun, MANY);
  assert(counts.before < MANY / 2, `${counts.before} of ${MANY} had begun before`);
});

Deno.test("what lies ready is neither all accepted nor all answered in one turn of the loop", async () => {
  // Deno lets operations complete at once in a program, as in a server, but not in a test.
  const program = fileURLToPath(new URL("crowded_server.ts", import.meta.url));
  const args = ["run", "-A", "--no-check", "--no-lock", program];
  const { stdout } = await new Deno.Command(Deno.execPath(), { args, stderr: "inherit" }).output();
  const { answered, accepted, before } = JSON.parse(new TextDecoder().decode(stdout));
  assert(answered <= 4, `${answered} requests of one connection were answered in one turn`);
  assert(accepted <= 32, `${accepted} connections were accepted in one turn`);
  assert(
    before <= 16,
    `${before} requests of one connection were answered before another client's`,
  );
});

Deno.test("one request begins in each turn of the loop, in order", async () => {
  let tasks = 0;
  const turns = new StartQueue(async () => {
    tasks++;
    await Promise.resolve();
  });
  const begun: [request: number, tasks: number][] = [];
  await Promise.all(Array.from({ length: 5 }, async (_, request) => {
    await turns.wait();
    begun.push([request, tasks]);
  }));
  assertEquals(begun, [[0, 1], [1, 2], [2, 3], [3, 4], [4, 5]]);
  assertEquals(turns.waiting, 0);
});

Deno.test("connections are accepted before the next request begins, but not for ever", async () => {
  let tasks = 0;
  let arriving = 3;
  const turns: StartQueue = new StartQueue(() => {
    tasks++;
    if (arriving-- > 0) turns.arrive();
    return Promise.resolve();
  });
  await turns.wait();
  assertEquals(tasks, 4);
  arriving = Infinity;
  await turns.wait();
  assertEquals(tasks, 12);
});

Deno.test("what tells whether a server is well is urgent, and nothing else", () => {
  const of = (method: string, path: string) =>
    isUrgent(new Request(`http://localhost:11434${path}`, { method }));
  for (const path of ["/", "/health", "/metrics", "/api/version", "/health?x=1"]) {
    assertEquals([of("GET", path), of("HEAD", path), of("POST", path)], [true, true, false], path);
  }
  for (const path of ["/healthy", "/api/tags", "/api/version/x", "/v1/models", "/x/health"]) {
    assertEquals(of("GET", path), false, path);
  }
});
