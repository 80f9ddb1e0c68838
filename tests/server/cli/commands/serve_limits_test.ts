// `quern serve` where the system gives few open files, and idle connections hold what there are: it
// loads, or says that it cannot, and never ends.

import { assert, assertEquals, assertMatch } from "@std/assert";
import { withServeProcess } from "../../serve_process.ts";

/** Opens connections that say nothing, and closes those that the server has accepted in the end. */
async function withIdle(url: string, count: number, work: () => Promise<void>): Promise<void> {
  const { hostname, port } = new URL(url);
  const open: Deno.TcpConn[] = [];
  try {
    while (open.length < count) open.push(await Deno.connect({ hostname, port: Number(port) }));
    await work();
  } finally {
    for (const connection of open) connection.close();
  }
}

async function ask(url: string): Promise<{ status: number; text: string }> {
  const body = JSON.stringify({
    model: "quern:tiny",
    prompt: "Hi",
    stream: false,
    options: { num_predict: 2 },
  });
  const response = await fetch(`${url}/api/generate`, { method: "POST", body });
  return { status: response.status, text: await response.text() };
}

const isUnix = Deno.build.os !== "windows";

Deno.test({
  name: "serve loads a model while idle connections hold all files that they may",
  ignore: !isUnix,
  async fn() {
    await withServeProcess({ before: "ulimit -n 200" }, async (url) => {
      await withIdle(url, 250, async () => {
        const { status, text } = await ask(url);
        assertEquals([status, JSON.parse(text).done], [200, true], text);
      });
    });
  },
});

Deno.test({
  name: "serve with 40 files says what it cannot do, does what it can, and goes on",
  ignore: !isUnix,
  async fn() {
    await withServeProcess({ before: "ulimit -n 40" }, async (url) => {
      await withIdle(url, 60, async () => {
        const answers = await Promise.all(Array.from({ length: 6 }, () => ask(url)));
        for (const { status, text } of answers) {
          assert([200, 503].includes(status), `${status} ${text}`);
          if (status === 503) assertMatch(text, /ulimit -n|as many connections as it can hold/);
        }
        const health = await fetch(`${url}/health`);
        assertEquals([health.status, (await health.json()).status], [200, "ok"]);
      });
      assertEquals((await ask(url)).status, 200);
    });
  },
});
