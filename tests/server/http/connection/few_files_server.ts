// A server in a process of its own, which is given few files; each request opens one more. Prints its
// port and its warnings.

import { HttpServer } from "../../../../server/http/connection/mod.ts";

const print = (text: string) => void Deno.stdout.writeSync(new TextEncoder().encode(`${text}\n`));
const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
new HttpServer(
  listener,
  async () => {
    await Deno.readFile(new URL(import.meta.url));
    return new Response("ok");
  },
  { log: { warn: print } },
);
print(`port ${listener.addr.port}`);
