// A server in a process of its own, at which connections and requests lie ready all at once. Prints how
// many it accepts, and answers, at most in one turn of the event loop, and how many it has answered
// before another client that asks meanwhile.

import { nextTask } from "../../../../engine/mod.ts";
import { HttpServer } from "../../../../server/http/connection/mod.ts";

const CONNECTIONS = 100;
const REQUESTS = 300;

/** The most by which a count grew from one turn of the event loop to the next, until it is `end`. */
async function mostInOneTurn(count: () => number, end: number): Promise<number> {
  let most = 0;
  for (let before = 0; before < end;) {
    await nextTask();
    const now = count();
    most = Math.max(most, now - before);
    before = now;
  }
  return most;
}

let requests = 0;
const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
const { port } = listener.addr;
const connect = () => Deno.connect({ hostname: "127.0.0.1", port });
const clients = await Promise.all(Array.from({ length: CONNECTIONS }, connect));
const server = new HttpServer(
  listener,
  () => {
    // A request is some work, or all would be answered before anybody else could ask.
    for (const end = performance.now() + 2; performance.now() < end;);
    return new Response(`${++requests}`);
  },
  { log: { warn: () => {} }, isUrgent: () => true },
);
const accepted = await mostInOneTurn(() => server.connections, CONNECTIONS);

const request = new TextEncoder().encode("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n");
const all = new Uint8Array(REQUESTS * request.length);
for (let index = 0; index < REQUESTS; index++) all.set(request, index * request.length);
for (let at = 0; at < all.length;) at += await clients[0]!.write(all.subarray(at));
const answered = await mostInOneTurn(() => requests, REQUESTS);

const started = requests;
const other = clients[1]!;
for (let at = 0; at < all.length;) at += await clients[0]!.write(all.subarray(at));
await other.write(request);
await other.read(new Uint8Array(1024));
const before = requests - started;

for (const client of clients) client.close();
await server.shutdown();
Deno.stdout.writeSync(new TextEncoder().encode(JSON.stringify({ answered, accepted, before })));
