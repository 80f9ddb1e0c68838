// Which servers models may be at, and that nothing of what they say of failures reaches clients.

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { inspectModel, ModelManager, ModelName, ModelStore } from "../../../engine/mod.ts";
import { createApp } from "../../../server/http/app.ts";
import { RemoteModels, type RemoteOptions } from "../../../server/remote/mod.ts";
import { type Answer, serveOllama, serveUpstream } from "./upstream.ts";

const messages = [{ role: "user", content: "Hi" }];
const SECRET = "inner-secret-4711";

/** An application over an empty store whose models run elsewhere. */
async function createRemoteApp(options: RemoteOptions) {
  const folder = await Deno.makeTempDir();
  const reports: string[] = [];
  const remote = new RemoteModels({ ...options, report: (text) => void reports.push(text) });
  const store = new ModelStore({ folder, inspect: inspectModel, remote });
  const manager = new ModelManager({
    store,
    open: (source) =>
      source.kind === "remote" ? remote.open(source) : Promise.reject(new Error("Not reached")),
  });
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  const app = createApp({ store, manager, log, version: "0" });
  const post = async (path: string, body: unknown) => {
    const response = await app.request(path, { method: "POST", body: JSON.stringify(body) });
    return { status: response.status, text: await response.text() };
  };
  return {
    reports,
    post,
    create: (host: string) =>
      post("/api/create", { model: "far", from: "m", remote_host: host, stream: false }),
    /** A model that another program has put into the store. */
    plant: async (host: string) => {
      const config = { remote_host: host, remote_model: "m" };
      const { digest, size } = await store.blobs.put(
        new TextEncoder().encode(JSON.stringify(config)),
      );
      const name = ModelName.parse("planted");
      const layer = { mediaType: "application/vnd.docker.container.image.v1+json", digest, size };
      const mediaType = "application/vnd.docker.distribution.manifest.v2+json";
      await store.writeManifest(name, { schemaVersion: 2, mediaType, config: layer, layers: [] });
    },
    async [Symbol.asyncDispose]() {
      await manager.closeAll();
      await Deno.remove(folder, { recursive: true });
    },
  };
}

Deno.test("models are at public addresses, or where OLLAMA_REMOTES and QUERN_CLOUD_HOST say", async () => {
  await using upstream = serveOllama([{ message: { content: "x" }, done: true }]);
  const { port } = new URL(upstream.url);
  const resolve = (name: string) =>
    name === "inner.test"
      ? Promise.resolve(["8.8.8.8", "127.0.0.1"])
      : /^localhost\.?$/.test(name)
      ? Promise.resolve(["127.0.0.1"])
      : Promise.reject(new Error("unknown"));
  const inner = [
    `http://127.0.0.1:${port}`,
    `2130706433:${port}`,
    `http://0x7f.0.0.1:${port}`,
    `http://[::ffff:127.0.0.1]:${port}`,
    `localhost:${port}`,
    `http://LOCALHOST.:${port}/v1`,
    `inner.test:${port}`,
    "169.254.169.254",
    "10.1.2.3:8000",
    "[::1]",
    "[fe80::1]:80",
    "0.0.0.0",
    "100.64.0.1",
  ];
  const cases: [options: RemoteOptions, host: string, isAllowed: boolean][] = [
    ...inner.map((host): [RemoteOptions, string, boolean] => [{ resolve }, host, false]),
    [{ resolve }, "8.8.8.8", true],
    [{ resolve }, "https://models.example.com", true],
    [{ remotes: ["127.0.0.1"] }, `127.0.0.1:${port}`, true],
    [{ remotes: [`http://127.0.0.1:${port}`] }, `127.1:${port}`, true],
    [{ remotes: ["127.0.0.1:80"] }, `127.0.0.1:${port}`, false],
    [{ remotes: ["127.0.0.1:80"] }, "http://127.0.0.1:80", true],
    [{ remotes: ["GPU.lan"] }, "gpu.lan.:8000", true],
    [{ remotes: ["gpu.lan"] }, "gpu.lan.evil.test", false],
    [{ remotes: ["gpu.lan"] }, "8.8.8.8", false],
    [{ remotes: ["::1"] }, "[::1]:9", true],
    [{ cloudHost: upstream.url }, `127.0.0.1:${port}`, true],
    [{ cloudHost: upstream.url, resolve }, "127.0.0.1:9", false],
  ];
  for (const [options, host, isAllowed] of cases) {
    await using world = await createRemoteApp(options);
    const { status, text } = await world.create(host);
    assertEquals([host, status], [host, isAllowed ? 200 : 403]);
    if (!isAllowed) assertStringIncludes(text, "OLLAMA_REMOTES");
  }
  assertEquals(upstream.seen, []);
});

Deno.test("a model that lies in the store with an inner address is shown, not asked, and removed", async () => {
  await using upstream = serveOllama([{ message: { content: SECRET }, done: true }]);
  await using world = await createRemoteApp({});
  await world.plant(upstream.url);
  for (
    const [path, body] of [
      ["/api/chat", { messages }],
      ["/api/generate", { prompt: "x" }],
      ["/api/embed", { input: "x" }],
      ["/v1/messages", { messages, max_tokens: 5 }],
      ["/v1/chat/completions", { messages }],
      ["/v1/responses", { input: "x" }],
    ] as const
  ) {
    const { status, text } = await world.post(path, { model: "planted", ...body });
    assertEquals([path, status], [path, 403]);
    assertStringIncludes(text, "OLLAMA_REMOTES");
    assert(!text.includes(SECRET));
  }
  assertEquals((await world.post("/api/show", { model: "planted" })).status, 200);
  assertEquals(upstream.seen, []);
});

const FAILURES: Answer[] = [
  () => Response.json({ error: SECRET }, { status: 400 }),
  () => Response.json({ error: { message: SECRET } }, { status: 500 }),
  () => new Response(`<html>${SECRET}</html>`, { status: 404 }),
  () => new Response(null, { status: 302, headers: { location: `http://127.0.0.1/${SECRET}` } }),
  () => new Response(SECRET),
  () => new Response(`{"error":"${SECRET}"}\n`),
  () => new Response(`data: {"error":{"message":"${SECRET}"}}\n\n`),
  () => new Response(`data: ${SECRET}\n\n`),
];

Deno.test("nothing that a named server says of a failure reaches clients; the log has it", async () => {
  let told = 0;
  for (const api of ["ollama", "openai"]) {
    for (const [index, failure] of FAILURES.entries()) {
      await using upstream = serveUpstream({
        ...(api === "ollama"
          ? { "/api/version": () => Response.json({ version: "1" }) }
          : { "/v1/models": () => Response.json({ data: [] }) }),
        "/api/chat": failure,
        "/v1/chat/completions": failure,
      });
      await using world = await createRemoteApp({ remotes: ["127.0.0.1"] });
      assertEquals((await world.create(upstream.url)).status, 200);
      const { status, text } = await world.post("/api/chat", { model: "far", messages });
      assert(!text.includes(SECRET), `${api} ${index}: ${text}`);
      assert(status !== 500);
      // A line of the other API's stream is none of this one's, and says nothing.
      if (!text.includes("the log of this server has what it said")) continue;
      told++;
      assertEquals([api, index, world.reports.join().includes(SECRET)], [api, index, true]);
    }
  }
  assert(told >= 12, `${told}`);
});
