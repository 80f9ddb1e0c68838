// `quern serve` on a real port: starting, answering, a client that hangs up, stopping.

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import type { CliDependencies } from "../../../../server/cli/dependencies.ts";
import { main } from "../../../../server/cli/main.ts";
import { ResponseStore } from "../../../../server/http/response_store.ts";
import { VERSION } from "../../../../server/version.ts";
import { fakeInfo, FakeModel, says, saysForever, type Script } from "../../fake_model.ts";
import { FakeTerminal } from "../fake_terminal.ts";
import { until } from "../../../until.ts";

interface Server {
  url: string;
  terminal: FakeTerminal;
  models: FakeModel[];
  exitCode: Promise<number>;
}

/** Runs a server with the model `tiny` while the test does. */
async function withServer(
  script: Script,
  test: (server: Server) => Promise<void>,
  settings: Record<string, string> = {},
  { args = [], spawn }: { args?: string[]; spawn?: CliDependencies["spawn"] } = {},
): Promise<void> {
  const folder = await Deno.makeTempDir();
  await Deno.writeTextFile(`${folder}/tiny.gguf`, "abc");
  const terminal = new FakeTerminal();
  const models: FakeModel[] = [];
  const exitCode = main(["serve", ...args], {
    ...(spawn && { spawn }),
    open() {
      models.push(new FakeModel({ script }));
      return Promise.resolve(models.at(-1)!);
    },
    inspect: () => Promise.resolve(fakeInfo),
    terminal,
    environment: {
      QUERN_MODELS: folder,
      OLLAMA_HOST: "127.0.0.1:0",
      QUERN_SHUTDOWN_TIMEOUT: "50ms",
      ...settings,
    },
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

/** A script that says words until the gate opens, and then that it is done. */
function saysUntil(gate: Promise<unknown>): Script {
  return async function* (request) {
    let isOpen = false;
    void gate.then(() => isOpen = true);
    while (!isOpen && !request.signal!.aborted) {
      yield { type: "text", text: "word " };
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    yield* says("end")(request);
  };
}

Deno.test("an interrupt lets streams end and sends new requests away meanwhile", async () => {
  const gate = Promise.withResolvers<void>();
  await withServer(saysUntil(gate.promise), async ({ url, terminal, exitCode }) => {
    const stream = await fetch(`${url}/api/chat`, { method: "POST", body });
    terminal.interrupt();
    const refused = await fetch(`${url}/api/chat`, { method: "POST", body });
    assertEquals([refused.status, refused.headers.get("retry-after")], [503, "1"]);
    assertEquals(await refused.json(), { error: "the server is shutting down" });
    const health = await fetch(`${url}/health`);
    assertEquals([health.status, await health.json()], [503, {
      status: "shutting down",
      version: VERSION,
    }]);
    gate.resolve();
    const records = (await stream.text()).trimEnd().split("\n").map((line) => JSON.parse(line));
    assertEquals([records.at(-2).message.content, records.at(-1).done], ["end", true]);
    assertEquals(await exitCode, 0);
    assertMatch(terminal.errors, /INFO {2}shutting down: 1 requests running\n/);
  }, { QUERN_SHUTDOWN_TIMEOUT: "1h" });
});

Deno.test("streams that do not end in time, or at a second interrupt, end with an error line", async () => {
  for (const timeout of ["20ms", "1h"]) {
    await withServer(saysForever(), async ({ url, terminal, exitCode }) => {
      const response = await fetch(`${url}/api/chat`, { method: "POST", body });
      terminal.interrupt();
      if (timeout === "1h") terminal.interrupt();
      const lines = (await response.text()).trimEnd().split("\n");
      assertEquals(JSON.parse(lines.at(-1)!), {
        error: "the server was stopped before the answer was complete: ask again",
      });
      assertEquals(await exitCode, 0);
    }, { QUERN_SHUTDOWN_TIMEOUT: timeout });
  }
});

Deno.test("an interrupt that comes while serve cleans its store up is not lost", async () => {
  const folder = await Deno.makeTempDir();
  const terminal = new FakeTerminal();
  const writeError = terminal.writeError;
  terminal.writeError = (text) => {
    writeError(text);
    // Before any file of the store has been looked at.
    if (text.includes("models in")) queueMicrotask(() => terminal.interrupt());
  };
  const exitCode = main(["serve"], {
    open: () => Promise.reject(new Error("nothing is loaded")),
    inspect: () => Promise.resolve(fakeInfo),
    terminal,
    environment: { QUERN_MODELS: folder, OLLAMA_HOST: "127.0.0.1:0" },
    fetch: globalThis.fetch,
  });
  const late = Promise.withResolvers<string>();
  const timer = setTimeout(() => late.resolve("it still serves"), 20_000);
  try {
    assertEquals(await Promise.race([exitCode, late.promise]), 0);
  } finally {
    clearTimeout(timer);
    terminal.interrupt();
    await exitCode;
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("serve bound to a name of loopback guards Host", async () => {
  await withServer(says("ok"), async ({ url }) => {
    const { hostname, port } = new URL(url);
    assertEquals(hostname, "127.0.0.1");
    using connection = await Deno.connect({ hostname, port: Number(port) });
    const request = "GET /api/tags HTTP/1.1\r\nHost: evil.com\r\nConnection: close\r\n\r\n";
    await connection.write(new TextEncoder().encode(request));
    const answer = await new Response(connection.readable).text();
    assertStringIncludes(answer, "HTTP/1.1 403 ");
  }, { OLLAMA_HOST: "LOCALHOST:0" });
});

Deno.test("serve --open opens its address in the browser, or says where it is", async () => {
  const opened: string[] = [];
  const spawn = (_: string, args: string[]) => Promise.resolve(opened.push(args.at(-1)!));
  await withServer(
    says("Hi"),
    async ({ url, terminal }) => {
      await until(() => terminal.errors.includes("cannot open the browser"));
      assertEquals(opened, [url]);
      assertStringIncludes(terminal.errors, `the page is at ${url}`);
    },
    {},
    { args: ["--open"], spawn },
  );
});

Deno.test("serve takes its key and its form of log from the environment", async () => {
  const settings = { QUERN_API_KEY: "secret", QUERN_LOG: "json" };
  await withServer(says("ok"), async ({ url, terminal }) => {
    assertEquals((await fetch(`${url}/api/tags`)).status, 401);
    const headers = { authorization: "Bearer secret" };
    const answer = await fetch(`${url}/api/chat`, { method: "POST", body, headers });
    assertEquals(answer.status, 200);
    await answer.text();
    await until(() => terminal.errors.includes('"path":"/api/chat"'));
    const entries = terminal.errors.trimEnd().split("\n").map((line) => JSON.parse(line));
    assertEquals(entries.at(-1).completion_tokens, 3);
  }, settings);
});

Deno.test("serve keeps responses in its cache folder, for the next server too, and none where told so", async () => {
  const cache = await Deno.makeTempDir();
  const ask = async (url: string, body: object) => {
    const asked = JSON.stringify({ model: "tiny", input: "Hi", ...body });
    return await (await fetch(`${url}/v1/responses`, { method: "POST", body: asked })).json();
  };
  const settings = { QUERN_CACHE: cache };
  let id = "";
  try {
    await withServer(
      says("Hel", "lo"),
      async ({ url }) => void ({ id } = await ask(url, {})),
      settings,
    );
    const [file] = Deno.readDirSync(`${cache}/responses`);
    assertEquals(`resp_${file!.name}`, id);
    await withServer(says("ok"), async ({ url, models }) => {
      assertEquals((await ask(url, { previous_response_id: id })).previous_response_id, id);
      const { request } = models[0]!.requests[0]! as { request: { messages: object[] } };
      assertEquals(request.messages.length, 3);
    }, settings);
    const files = () => [...Deno.readDirSync(`${cache}/responses`)].length;
    for (const name of ["QUERN_RESPONSES", "QUERN_RESPONSES_SIZE", "QUERN_RESPONSES_AGE"]) {
      await Deno.writeTextFile(`${cache}/responses/${ResponseStore.newId()}`, "x");
      await withServer(says("ok"), async ({ url, terminal }) => {
        await until(() => files() === 0);
        assertEquals((await ask(url, {})).store, false);
        assertMatch((await ask(url, { previous_response_id: id })).error.message, /keeps none/);
        assert(!terminal.errors.includes("WARN"), terminal.errors);
      }, { ...settings, [name]: "0" });
    }
  } finally {
    await Deno.remove(cache, { recursive: true });
  }
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

Deno.test("a server with models to load at its start is ready when they are in memory", async () => {
  const ready = async (url: string) => {
    const response = await fetch(`${url}/health/ready`);
    return [response.status, (await response.json()).missing];
  };
  await withServer(says("a"), async ({ url, terminal, models }) => {
    // One of them cannot be loaded: the server is never ready, and says why.
    await until(() => terminal.errors.includes('Cannot load "other" of QUERN_PRELOAD'));
    assertEquals(models.length, 1);
    assertEquals(await ready(url), [503, ["other"]]);
    const live = await fetch(`${url}/health/live`);
    assertEquals([live.status, (await live.json()).status], [200, "ok"]);
  }, { QUERN_PRELOAD: "tiny, other" });
  await withServer(says("a"), async ({ url, models }) => {
    await until(() => models.length === 1);
    let [status] = await ready(url);
    for (let i = 0; i < 100 && status !== 200; i++) [status] = await ready(url);
    assertEquals(status, 200);
  }, { QUERN_PRELOAD: "tiny" });
});
