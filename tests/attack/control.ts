// A server that only answers, in a process of its own. The time that it takes is the machine's, so
// a server under attack is slow only by its additional time.

const server = Deno.serve({
  hostname: "127.0.0.1",
  port: 0,
  onListen: ({ port }) => Deno.stdout.writeSync(new TextEncoder().encode(`${port}\n`)),
}, () => Response.json({ status: "ok" }));
// It ends with its parent.
for await (const _ of Deno.stdin.readable);
await server.shutdown();
