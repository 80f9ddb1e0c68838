// A server in a process of its own, which is given few files; each request starts a worker, which a
// panic of the runtime would end with the process. Prints its port and its warnings.

import { startWorker } from "../../../../kernels/mod.ts";
import { HttpServer } from "../../../../server/http/connection/mod.ts";

const print = (text: string) => void Deno.stdout.writeSync(new TextEncoder().encode(`${text}\n`));
const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
new HttpServer(
  listener,
  async () => {
    const worker = startWorker(
      new URL("../../../kernels/workers/one_word.ts", import.meta.url),
      "Cannot answer",
    );
    const { data } = await new Promise<MessageEvent>((resolve) => worker.onmessage = resolve);
    worker.terminate();
    return new Response(data);
  },
  { log: { warn: print } },
);
print(`port ${listener.addr.port}`);
