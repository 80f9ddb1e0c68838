// Where a command finds its server: at OLLAMA_HOST, or in this process.

import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { connect } from "../../../../server/cli/client/mod.ts";
import { ConnectionError } from "../../../../server/cli/client/mod.ts";
import type { CliDependencies } from "../../../../server/cli/dependencies.ts";
import { type Asked, fakeFetch } from "../commands/fake_api.ts";
import { fakeInfo, FakeModel, says, saysForever, type Script } from "../../fake_model.ts";
import { FakeTerminal } from "../fake_terminal.ts";
import { until } from "../../../until.ts";

const refuse = () => Promise.reject(new TypeError("connection refused"));

/** A world with a model `tiny`, in which nothing listens unless `fetch` says so. */
async function withWorld(
  test: (world: CliDependencies, models: FakeModel[], terminal: FakeTerminal) => Promise<void>,
  script: Script = says("Hel", "lo"),
): Promise<void> {
  const folder = await Deno.makeTempDir();
  const models: FakeModel[] = [];
  const terminal = new FakeTerminal();
  try {
    await Deno.writeTextFile(`${folder}/tiny.gguf`, "abc");
    await test(
      {
        open(_source, options) {
          options.onProgress?.({ loaded: 50, total: 100 });
          models.push(new FakeModel({ script }));
          return Promise.resolve(models.at(-1)!);
        },
        inspect: () => Promise.resolve(fakeInfo),
        terminal,
        environment: { QUERN_MODELS: folder },
        fetch: refuse,
      },
      models,
      terminal,
    );
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("connect() takes the server at OLLAMA_HOST, with the key", async () => {
  await withWorld(async (world) => {
    const asked: Asked[] = [];
    const fetch = fakeFetch({ "GET /api/tags": () => Response.json({ models: [] }) }, asked);
    const environment = { OLLAMA_HOST: "0.0.0.0:99", QUERN_API_KEY: "secret" };
    await using api = await connect({ ...world, fetch, environment });
    assertEquals([api.inProcess, api.url], [false, "http://127.0.0.1:99"]);
    await api.json("/api/tags");
    assertEquals(asked[0]!.headers.get("authorization"), "Bearer secret");
  });
});

Deno.test("connect() makes a server in this process where nothing listens on this machine", async () => {
  await withWorld(async (world, models, terminal) => {
    const environment = { ...world.environment, QUERN_API_KEY: "secret" };
    const api = await connect({ ...world, environment });
    assert(api.inProcess);
    const { models: tags } = await api.json("/api/tags");
    assertEquals(tags.map(({ name }) => name), ["tiny:latest", "quern:tiny"]);
    const request = { model: "tiny", messages: [{ role: "user", content: "Hi" }] };
    type ChatRecord = { message: { content: string } };
    const answer = await Array.fromAsync(api.stream("/api/chat", request));
    assertEquals(answer.map(({ message }) => message.content).join(""), "Hello");
    assertEquals([models[0]!.closed, terminal.errors], [false, ""]);
    await api.close();
    assert(models[0]!.closed);
  });
});

Deno.test("a server in this process shows its loads on a terminal, and then nothing of them", async () => {
  await withWorld(async (world, _models, terminal) => {
    terminal.stderrIsTerminal = true;
    await using api = await connect(world);
    await api.json("/api/generate", { model: "tiny", stream: false });
    assertStringIncludes(terminal.errors, "loading:  50% ▕");
    assert(terminal.errors.endsWith("\r\x1b[J\x1b[?25h"), JSON.stringify(terminal.errors));
  });
});

Deno.test("an abort reaches what a server in this process runs", async () => {
  let hasEnded = false;
  await withWorld(async (world) => {
    await using api = await connect(world);
    const abort = new AbortController();
    const request = { model: "tiny", prompt: "Hi" };
    const records = api.stream("/api/generate", request, abort.signal);
    await records.next();
    abort.abort();
    await assertRejects(() => Array.fromAsync(records), DOMException);
    await until(() => hasEnded);
  }, saysForever(() => hasEnded = true));
});

Deno.test("connect() says what to do where no server can be reached", async () => {
  await withWorld(async (world) => {
    const remote = { ...world, environment: { OLLAMA_HOST: "box.test:99" } };
    const silent = {
      ...world,
      fetch: () => Promise.reject(new DOMException("The signal timed out.", "TimeoutError")),
    };
    const cases: [CliDependencies, boolean, string][] = [
      [remote, true, "Cannot reach a server at http://box.test:99: start one there with"],
      [silent, true, "has not answered within 10 seconds"],
      [world, false, "Cannot reach a server at http://127.0.0.1:11434: start one with"],
    ];
    for (const [dependencies, mayStart, message] of cases) {
      await assertRejects(() => connect(dependencies, { mayStart }), ConnectionError, message);
    }
  });
});
