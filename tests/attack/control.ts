// A server that does nothing but answer, in a process of its own. What it takes is what the machine
// takes: a server under attack is slow only by what it takes longer.

const server = Deno.serve({
  hostname: "127.0.0.1",
  port: 0,
  onListen: ({ port }) => Deno.stdout.writeSync(new TextEncoder().encode(`${port}\n`)),
}, () => Response.json({ status: "ok" }));
// It goes when whoever started it does.
for await (const _ of Deno.stdin.readable);
await server.shutdown();
