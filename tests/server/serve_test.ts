// `quern serve` on a real port: starting, answering, a client that hangs up, stopping.

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { main } from "../../server/cli.ts";
import { fakeInfo, FakeModel, says, saysForever, type Script } from "./fake_model.ts";
import { FakeTerminal } from "./fake_terminal.ts";
import { until } from "./test_app.ts";

interface Server {
  url: string;
  terminal: FakeTerminal;
  models: FakeModel[];
  exitCode: Promise<number>;
}

/** Runs a server with the model `tiny` while the test does. */
async function withServer(script: Script, test: (server: Server) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  await Deno.writeTextFile(`${folder}/tiny.gguf`, "abc");
  const terminal = new FakeTerminal();
  const models: FakeModel[] = [];
  const exitCode = main(["serve"], {
    open() {
      models.push(new FakeModel({ script }));
      return Promise.resolve(models.at(-1)!);
    },
    inspect: () => Promise.resolve(fakeInfo),
    terminal,
    environment: { QUERN_MODELS: folder, OLLAMA_HOST: "127.0.0.1:0" },
    fetch: globalThis.fetch,
  });
  try {
    await until(() => terminal.errors.includes("listening on"));
    const url = /listening on (\S+),/.exec(terminal.errors)![1]!;
    await test({ url, terminal, models, exitCode });
    terminal.interrupt();
    assertEquals(await exitCode, 0);
    assert(models.every(({ closed }) => closed));
    assertEquals(terminal.listeners, 0);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

const body = JSON.stringify({ model: "tiny", messages: [{ role: "user", content: "Hi" }] });

Deno.test("serve answers on its port and logs loads and requests", async () => {
  await withServer(says("Hel", "lo"), async ({ url, terminal }) => {
    const response = await fetch(`${url}/api/chat`, { method: "POST", body });
    assertEquals((await response.text()).trimEnd().split("\n").length, 3);
    assertMatch(terminal.errors, /INFO {2}loading \S+tiny\.gguf\n/);
    assertMatch(terminal.errors, /INFO {2}POST \/api\/chat 200 - tiny - in 4 \+ 7 - /);
    const tags = await (await fetch(`${url}/api/tags`)).json();
    assertEquals(tags.models[0].name, "tiny:latest");
  });
});

Deno.test("serve ends the generation of a client that hangs up, streaming and not", async () => {
  for (const stream of [true, false]) {
    let ended = false;
    await withServer(saysForever(() => ended = true), async ({ url, models }) => {
      const abort = new AbortController();
      const asked = { ...JSON.parse(body), stream };
      const answer = fetch(`${url}/api/chat`, {
        method: "POST",
        body: JSON.stringify(asked),
        signal: abort.signal,
      });
      if (stream) await (await answer).body!.getReader().read();
      else answer.catch(() => {});
      await until(() => models[0]?.requests.length === 1);
      assert(!ended);
      abort.abort();
      await until(() => ended);
    });
  }
});

Deno.test("an interrupt ends streams with an error line, and the server", async () => {
  await withServer(saysForever(), async ({ url, terminal, exitCode }) => {
    const response = await fetch(`${url}/api/chat`, { method: "POST", body });
    terminal.interrupt();
    const lines = (await response.text()).trimEnd().split("\n");
    assertEquals(JSON.parse(lines.at(-1)!), { error: "the model was closed" });
    assertEquals(await exitCode, 0);
  });
});

Deno.test("serve on a port that is taken fails with a message and exit code 1", async () => {
  using taken = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = taken.addr as Deno.NetAddr;
  const terminal = new FakeTerminal();
  const exitCode = await main(["serve"], {
    open: () => Promise.reject(new Error("not reached")),
    inspect: () => Promise.reject(new Error("not reached")),
    terminal,
    environment: { OLLAMA_HOST: `127.0.0.1:${port}` },
    fetch: globalThis.fetch,
  });
  assertEquals(exitCode, 1);
  assertStringIncludes(
    terminal.errors,
    `Cannot listen on 127.0.0.1:${port}: the address is in use`,
  );
});
