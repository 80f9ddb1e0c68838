// Remote models in a server that is put together from the environment, as `serve` does it.

import { assertEquals } from "@std/assert";
import { inspectModel } from "../../../engine/mod.ts";
import { assemble } from "../../../server/http/assemble.ts";
import { readSettings } from "../../../server/settings/settings.ts";
import { delta, serveOpenAi } from "./upstream.ts";

Deno.test("QUERN_CLOUD_HOST, QUERN_CLOUD_KEY and QUERN_CLOUD_API make cloud names work", async () => {
  await using upstream = serveOpenAi([delta({ content: "Hello" }, "stop")]);
  const environment = {
    QUERN_MODELS: await Deno.makeTempDir(),
    QUERN_CLOUD_HOST: upstream.url,
    QUERN_CLOUD_KEY: " 'secret' ",
    QUERN_CLOUD_API: "OpenAI",
  };
  const { app, manager } = assemble({
    dependencies: {
      open: () => Promise.reject(new Error("Expected no file to be opened")),
      inspect: inspectModel,
      fetch,
    },
    settings: readSettings(environment),
    log: { debug() {}, info() {}, warn() {}, error() {} },
  });
  const messages = [{ role: "user", content: "Hi" }];
  const response = await app.request("/api/chat", {
    method: "POST",
    body: JSON.stringify({ model: "far/model:cloud", messages, stream: false }),
  });
  assertEquals((await response.json()).message.content, "Hello");
  assertEquals(upstream.of("/v1/chat/completions")[0]!.authorization, "Bearer secret");
  assertEquals(upstream.of("/api/version"), []);
  await manager.closeAll();
  await Deno.remove(environment.QUERN_MODELS, { recursive: true });
});

Deno.test("readSettings() takes addresses of cloud servers in every form, and no nonsense", () => {
  const cases: [string, string | undefined][] = [
    ["gpu.lan", "http://gpu.lan:11434"],
    ["gpu.lan:8000/serve", "http://gpu.lan:8000/serve"],
    ["https://api.test/v1/", "https://api.test/v1"],
    ["", undefined],
    ["ftp://x", undefined],
    ["http://", undefined],
  ];
  for (const [text, host] of cases) {
    const { cloudHost, cloudApi } = readSettings({
      QUERN_CLOUD_HOST: text,
      QUERN_CLOUD_API: "telnet",
    });
    assertEquals([text, cloudHost, cloudApi], [text, host, undefined]);
  }
});
