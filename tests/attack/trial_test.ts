// The attack set finds what it looks for: each kind of fault, in a server that has it.

import { assert, assertEquals } from "@std/assert";
import { CoreWaits } from "./core_waits.ts";
import type { Server } from "./server.ts";
import { type Ask, Trial } from "./trial.ts";

/** The kinds of fault that are found when a server answers so. */
async function faultsOf(
  handler: (signal: AbortSignal) => Response | Promise<Response>,
  ask: Partial<Ask> = {},
  lines: string[] = [],
): Promise<string[]> {
  const options = { hostname: "127.0.0.1", port: 0, onListen() {} };
  await using serving = Deno.serve(options, ({ signal }) => handler(signal));
  const log: string[] = [];
  const server = { url: `http://127.0.0.1:${serving.addr.port}`, lines: log } as unknown as Server;
  const trial = new Trial(server, 1);
  await trial.ask({ path: "/api/chat", body: {}, seconds: 60, ...ask });
  log.push(...lines);
  trial.judgeLog();
  return trial.faults.map(({ kind }) => kind);
}

Deno.test("an answer, a refusal and a client that hangs up are no faults", async () => {
  assertEquals(await faultsOf(() => Response.json({ done: true })), []);
  const refusal = { error: 'invalid "undefined": it must be a number' };
  assertEquals(await faultsOf(() => Response.json(refusal, { status: 400 })), []);
  const never = (signal: AbortSignal) =>
    new Promise<Response>((done) => {
      signal.addEventListener("abort", () => done(new Response()));
    });
  assertEquals(await faultsOf(never, { hangUpAfter: 0.05 }), []);
});

Deno.test("a status 500, and words from the inside of the program, are faults", async () => {
  const error = { error: "x" };
  assertEquals(await faultsOf(() => Response.json(error, { status: 500 })), ["status 500"]);
  for (const words of ["x is not iterable", "Invalid string length", "undefined of undefined"]) {
    const found = await faultsOf(() => Response.json({ error: words }, { status: 400 }));
    assertEquals([words, found], [words, ["wrong"]]);
  }
  const late = `{"response":"a"}\n{"error":"Cannot read properties of null"}\n`;
  assertEquals(await faultsOf(() => new Response(late)), ["wrong"]);
});

Deno.test("an answer that does not come is a hang", async () => {
  const never = (signal: AbortSignal) =>
    new Promise<Response>((done) => {
      signal.addEventListener("abort", () => done(new Response()));
    });
  assertEquals(await faultsOf(never, { seconds: 0.2 }), ["hang"]);
});

Deno.test("an ERROR in the log is a fault, a line of access is none", async () => {
  const sound = () => Response.json({});
  assertEquals(await faultsOf(sound, {}, ["x INFO  POST /api/chat 400 - 0.1 s"]), []);
  assertEquals(await faultsOf(sound, {}, ["x ERROR /api/chat: TypeError"]), ["wrong"]);
});

Deno.test({
  name: "what a process waits for a core while others have it is known",
  ignore: Deno.build.os !== "linux",
  async fn() {
    // More processes that compute than there are cores.
    const script = "const end = Date.now() + 60_000; while (Date.now() < end);";
    const count = 2 * navigator.hardwareConcurrency;
    const busy = Array.from(
      { length: count },
      () => new Deno.Command(Deno.execPath(), { args: ["eval", script] }).spawn(),
    );
    const began = performance.now();
    const waits = busy.map(({ pid }) => new CoreWaits(pid));
    const longest = () => Math.max(...waits.map((wait) => wait.longest()));
    let isOver = false;
    const ended = Promise.all(busy.map(({ status }) => status)).then(() => isOver = true);
    while (longest() <= 100 && !isOver) await new Promise((done) => setTimeout(done, 20));
    const [waited, all] = [longest(), performance.now() - began];
    for (const process of isOver ? [] : busy) process.kill();
    await ended;
    assert(waited > 100 && waited < all + 10, `${waited} of ${all} ms`);
    assertEquals(waits[0]!.longest(), 0, "a process that has ended waits for nothing");
  },
});
