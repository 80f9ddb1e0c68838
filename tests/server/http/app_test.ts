// Everything around generation: listings, liveness, unknown paths, origins and hosts.

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { createTestApp, ringOf } from "../test_app.ts";

const details = {
  parent_model: "",
  format: "gguf",
  family: "llama",
  families: ["llama"],
  parameter_size: "999.89M",
  quantization_level: "Q4_K_M",
  context_length: 8192,
  embedding_length: 64,
};

const BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

Deno.test("GET / gives a browser the page, and all others the text of Ollama", async () => {
  const { app } = createTestApp();
  const ask = (accept: string | undefined) =>
    app.request("/", { headers: { ...accept && { accept } } });
  const response = await ask(BROWSER);
  const text = await response.text();
  assertStringIncludes(text, "<title>Quern</title>");
  assertEquals(response.headers.get("content-type"), "text/html; charset=utf-8");
  assertEquals(response.headers.get("vary"), "accept, accept-encoding, Origin");
  assertEquals(response.headers.get("cache-control"), "no-cache");
  for (const accept of [undefined, "*/*", "application/json", "text/plain"]) {
    const plain = await ask(accept);
    assertEquals(await plain.text(), "Ollama is running");
    assertStringIncludes(plain.headers.get("content-type")!, "text/plain");
    assertEquals(plain.headers.get("vary"), "accept, Origin");
  }
});

Deno.test("GET / and HEAD / say that the server runs", async () => {
  const { app } = createTestApp();
  const response = await app.request("/");
  assertEquals([response.status, await response.text()], [200, "Ollama is running"]);
  const head = await app.request("/", { method: "HEAD" });
  assertEquals([head.status, await head.text()], [200, ""]);
});

Deno.test("GET /api/version gives the version of Ollama's API, which clients have floors for", async () => {
  const { app } = createTestApp();
  const response = await app.request("/api/version");
  const { version, quern_version } = await response.json();
  assertMatch(version, /^0\.34\.\d+$/);
  assertEquals(quern_version, "1.2.3");
  assertEquals(response.headers.get("server"), "quern/1.2.3");
  assertEquals((await app.request("/nothing")).headers.get("server"), "quern/1.2.3");
});

Deno.test("every answer has the id that its request named, also one that failed", async () => {
  const { app } = createTestApp();
  const ask = async (path: string, id: string) => {
    const response = await app.request(path, { headers: { "x-request-id": id } });
    await response.body?.cancel();
    return response.headers.get("x-request-id");
  };
  for (const path of ["/health", "/api/tags", "/nothing", "/v1/models/none"]) {
    assertEquals(await ask(path, "gateway-7"), "gateway-7", path);
    assertEquals(await ask(path, "no id"), null, path);
  }
});

Deno.test("GET /api/tags lists the store's models and HEAD answers too", async () => {
  const { app } = createTestApp();
  const { models } = await (await app.request("/api/tags?x=1")).json();
  assertEquals(models.length, 2);
  assertEquals(models[0], {
    name: "tiny:latest",
    model: "tiny:latest",
    modified_at: "2026-08-21T10:00:00.123Z",
    size: 1000,
    digest: "d11",
    details,
    capabilities: ["completion"],
  });
  assertEquals((await app.request("/api/tags", { method: "HEAD" })).status, 200);
});

Deno.test("GET /api/ps shows memory, window and expiry of the loaded models", async () => {
  const { app, post } = createTestApp();
  assertEquals(await (await app.request("/api/ps")).json(), { models: [] });
  await post("/api/generate", { model: "tiny", keep_alive: "10m", options: { num_ctx: 512 } });
  await post("/api/generate", { model: "story", keep_alive: -1 });
  const { models } = await (await app.request("/api/ps")).json();
  const [forever, minutes] = models;
  assertEquals([forever.name, minutes.name], ["story:latest", "tiny:latest"]);
  const { expires_at: expiry, ...fixed } = minutes;
  assertEquals(fixed, {
    name: "tiny:latest",
    model: "tiny:latest",
    size: 1230,
    digest: "d11",
    details,
    size_vram: 1230,
    context_length: 512,
  });
  assert(Math.abs(Date.parse(expiry) - Date.now() - 600_000) < 60_000, expiry);
  assertEquals(new Date(forever.expires_at).getUTCFullYear(), new Date().getUTCFullYear() + 292);
});

Deno.test("GET /api/ps names a device that is not used for a model, and what it computes wrongly", async () => {
  const { app, post, loaded } = createTestApp();
  await post("/api/generate", { model: "tiny" });
  const fault = { what: "linear Q4_K of layer 3 (qkv), 5 rows", how: "off by 0.02 of the power" };
  loaded[0]!.refusal = { device: "Some GPU", faults: [fault] };
  const [shown] = (await (await app.request("/api/ps")).json()).models;
  assertEquals(shown.refused_device, {
    name: "Some GPU",
    faults: ["linear Q4_K of layer 3 (qkv), 5 rows: off by 0.02 of the power"],
  });
});

Deno.test("a slash at the end of a path leads to the path without it, with the query and the method", async () => {
  const { app } = createTestApp();
  const led: [method: string, path: string, status: number, location: string][] = [
    ["GET", "/api/tags/", 301, "/api/tags"],
    ["GET", "/api/tags/?a=b%20c&d", 301, "/api/tags?a=b%20c&d"],
    ["HEAD", "/api/tags/", 307, "/api/tags"],
    ["POST", "/api/chat/", 307, "/api/chat"],
    ["DELETE", "/api/delete/", 307, "/api/delete"],
    ["POST", "/v1/chat/completions/?x=1", 307, "/v1/chat/completions?x=1"],
    ["POST", "/v1/messages/", 307, "/v1/messages"],
    ["GET", "/v1/responses/resp_1/input_items/", 301, "/v1/responses/resp_1/input_items"],
    ["POST", "/api/blobs/sha256:a%2Fb/", 307, "/api/blobs/sha256:a%2Fb"],
  ];
  for (const [method, path, status, location] of led) {
    const response = await app.request(path, { method });
    assertEquals([path, response.status, response.headers.get("location")], [
      path,
      status,
      location,
    ]);
    assertEquals(await response.text(), "");
  }
  const lost = [["POST", "/api/tags/"], ["GET", "/api/chat/"], ["GET", "/api/tags//"], [
    "GET",
    "/no/",
  ]];
  for (const [method, path] of [...lost, ["GET", "//a.example/api/tags/"]]) {
    const response = await app.request(`http://127.0.0.1${path}`, { method: method! });
    assertEquals([path, response.status, await response.text()], [path, 404, "404 page not found"]);
  }
});

Deno.test("unknown paths get 404 and known paths with another method 405, both as text", async () => {
  const { app } = createTestApp();
  for (const [method, path] of [["GET", "/api/nope"], ["POST", "/v1nope"], ["FOO", "/nope"]]) {
    const response = await app.request(path!, { method: method! });
    assertEquals([response.status, await response.text()], [404, "404 page not found"]);
  }
  for (
    const [method, path, allow] of [
      ["GET", "/api/chat", "POST"],
      ["POST", "/api/tags", "GET, HEAD"],
      ["DELETE", "/", "GET, HEAD"],
      ["PROPFIND", "/api/generate", "POST"],
    ]
  ) {
    const response = await app.request(path!, { method: method! });
    assertEquals([response.status, await response.text()], [405, "405 method not allowed"]);
    assertEquals(response.headers.get("allow"), allow);
    assertStringIncludes(response.headers.get("content-type")!, "text/plain");
  }
});

Deno.test("a path that is no route answers Anthropic's clients in their form", async () => {
  const { app } = createTestApp();
  const headers = { "anthropic-version": "2023-06-01" };
  for (const path of ["/v1/nope", "/v1/files", "/v1/messages/batches", "/nope"]) {
    const response = await app.request(path, { method: "POST", headers });
    const { type, error, request_id } = await response.json();
    assertEquals([response.status, type, error.type], [404, "error", "not_found_error"]);
    assertEquals(response.headers.get("request-id"), request_id);
  }
});

Deno.test("below /v1 both are errors as the vendor's clients expect them, and say what to do", async () => {
  const { app } = createTestApp();
  const cases: [string, string, number, string][] = [
    ["POST", "/v1/nope", 404, "there is no POST /v1/nope: GET /openapi.json lists what there is"],
    ["GET", "/v1/", 404, "there is no GET /v1/: "],
    ["POST", "/v1/audio/speech", 404, "there is no POST /v1/audio/speech: "],
    ["POST", "/v1/responses/resp_1/steer", 404, "there is no POST /v1/responses/resp_1/steer: "],
    ["GET", "/v1/chat/completions", 405, "/v1/chat/completions takes no GET: use POST"],
    ["DELETE", "/v1/models/tiny", 405, "takes no DELETE: use GET, HEAD"],
    ["PUT", "/v1/responses/resp_1", 405, "takes no PUT: use GET, HEAD, DELETE"],
    ["POST", "/v1/messages/nope", 404, "there is no POST /v1/messages/nope: "],
    ["GET", "/v1/messages", 405, "/v1/messages takes no GET: use POST"],
  ];
  for (const [method, path, status, sentence] of cases) {
    const response = await app.request(path, { method });
    assertEquals([path, response.status], [path, status]);
    assertEquals(response.headers.get("content-type"), "application/json; charset=utf-8");
    const { type, error, request_id } = await response.json();
    assertStringIncludes(error.message, sentence);
    assertEquals(error.type, status === 404 ? "not_found_error" : "invalid_request_error");
    const isAnthropic = path.startsWith("/v1/messages");
    assertEquals(
      [type, typeof request_id],
      isAnthropic ? ["error", "string"] : [undefined, "undefined"],
    );
    assertEquals("code" in error, !isAnthropic);
    assertEquals(response.headers.has("allow"), status === 405);
  }
});

Deno.test("pages of this machine, of apps and of OLLAMA_ORIGINS are allowed, others get 403", async () => {
  const { app } = createTestApp({}, { origins: ["https://*.example.org"] });
  const cases: [string, number][] = [
    ["http://localhost", 200],
    ["http://localhost:3000", 200],
    ["https://127.0.0.1:8443", 200],
    ["http://[::1]:5173", 200],
    ["app://obsidian.md", 200],
    ["vscode-webview://abc", 200],
    ["https://chat.example.org", 200],
    ["http://chat.example.org", 403],
    ["https://example.org.evil.com", 403],
    ["http://localhost.evil.com", 403],
    ["http://localhost:80.evil.com", 403],
    ["http://127.0.0.1:80@evil.com", 403],
    ["https://[::1]:443/evil.com", 403],
    ["http://localhost:", 403],
    ["https://evil.com/.example.org", 403],
    ["https://evil.com:1.example.org", 403],
    ["https://evil.com#.example.org", 403],
    ["chrome-extension://abc", 403],
    ["null", 403],
  ];
  for (const [origin, status] of cases) {
    const response = await app.request("/api/tags", { headers: { origin } });
    assertEquals([origin, response.status], [origin, status]);
    const granted = response.headers.get("access-control-allow-origin");
    if (status === 200) assertEquals(granted, origin);
    else assertStringIncludes((await response.json()).error, `origin "${origin}" is not allowed`);
  }
  const { app: open } = createTestApp({}, { origins: ["*"] });
  const response = await open.request("/", { headers: { origin: "https://anywhere.com" } });
  assertEquals(response.status, 200);
});

Deno.test("errors carry CORS headers, so that a page can read them", async () => {
  const { app } = createTestApp();
  const headers = { origin: "http://localhost:3000" };
  const response = await app.request("/api/chat", { method: "POST", body: "{", headers });
  assertEquals(response.status, 400);
  assertEquals(response.headers.get("access-control-allow-origin"), "http://localhost:3000");
});

Deno.test("a preflight request gets 204 and the headers of all clients", async () => {
  const { app } = createTestApp({}, { keys: ringOf("secret") });
  const own = [
    "authorization",
    "content-type",
    "x-api-key",
    "anthropic-version",
    "anthropic-beta",
    "anthropic-dangerous-direct-browser-access",
    "openai-beta",
  ];
  for (const asked of ["", "Content-Type, X-Stainless-Retry-Count,x-stainless-os"]) {
    for (const path of ["/api/chat", "/v1/messages", "/v1/chat/completions"]) {
      const headers = {
        origin: "http://localhost:3000",
        "access-control-request-method": "POST",
        ...asked && { "access-control-request-headers": asked },
      };
      const response = await app.request(path, { method: "OPTIONS", headers });
      assertEquals([response.status, await response.text()], [204, ""]);
      const granted = response.headers.get("access-control-allow-headers")!.split(",");
      const wanted = asked.toLowerCase().split(/, */).filter(Boolean);
      for (const name of [...own, ...wanted]) assert(granted.includes(name), name);
      assertEquals(new Set(granted).size, granted.length);
      const methods = response.headers.get("access-control-allow-methods")!.split(",");
      for (const method of ["GET", "HEAD", "POST", "DELETE"]) assert(methods.includes(method));
    }
  }
  const headers = { origin: "https://evil.com", "access-control-request-method": "POST" };
  const refused = await app.request("/api/chat", { method: "OPTIONS", headers });
  assertEquals(refused.status, 403);
});

Deno.test("a server on loopback answers to local names and addresses only", async () => {
  const cases: [string, number][] = [
    ["localhost:11434", 200],
    ["127.0.0.1:11434", 200],
    ["[::1]:11434", 200],
    ["0.0.0.0", 200],
    ["192.168.1.5:80", 200],
    ["my-box:11434", 200],
    ["MY-BOX", 200],
    ["pc.local", 200],
    ["localhost.", 200],
    ["api.localhost", 200],
    ["[::ffff:127.0.0.1]:11434", 200],
    ["[fd12::1]", 200],
    ["172.31.255.255", 200],
    ["10.1.2.3", 200],
    ["host.docker.internal:11434", 200],
    ["evil.com", 403],
    ["localhost.evil.com:11434", 403],
    ["8.8.8.8", 403],
    ["172.32.0.1", 403],
    ["[2001:db8::1]:80", 403],
    ["[::1].evil.com", 403],
    ["[::1]evil.com:80", 403],
    ["127.0.0.1.evil.com", 403],
    ["127.0.0.1:80.evil.com", 403],
    ["localhost:80@evil.com", 403],
    ["evil.com/localhost", 403],
    ["localhost, evil.com", 403],
    ["evillocalhost", 403],
    ["my-box.evil.com", 403],
    [".local.", 403],
    ["evil.com/pc.local", 403],
    ["evil.com?pc.internal", 403],
    ["evil.com:80@pc.localhost", 403],
    ["2130706433", 403],
    ["0x7f.0.0.1", 403],
  ];
  const { app } = createTestApp({}, { ownNames: ["my-box"] });
  for (const [host, status] of cases) {
    const response = await app.request("/", { headers: { host } });
    assertEquals([host, response.status], [host, status]);
    if (status === 403) {
      const { error } = await response.json();
      assertStringIncludes(error, `host "${host}" is not allowed: `);
      assertStringIncludes(error, "QUERN_HOSTS");
    }
  }
});

Deno.test("where others reach it, a server answers to any address and no foreign name, whatever Origin says", async () => {
  const cases: [host: string, status: number][] = [
    ["8.8.8.8:11434", 200],
    ["[2001:db8::1]:11434", 200],
    ["localhost:11434", 200],
    ["my-box:11434", 200],
    ["my-box.example.org", 200],
    ["pc.local", 200],
    ["quern:11434", 200],
    ["Chat.Example.net.", 200],
    ["a.b.lan:80", 200],
    ["evil.com", 403],
    ["lan", 403],
    ["chat.example.net.evil.com", 403],
    ["chatxexample.net", 403],
    ["evil.com/a.lan", 403],
    ["evil.com:80#a.lan", 403],
    ["my-box.evil.com", 403],
    ["2130706433", 403],
    ["8.8.8.8.evil.com", 403],
  ];
  for (const boundTo of ["0.0.0.0", "::", "192.168.1.2"]) {
    const { app } = createTestApp({}, {
      boundTo,
      ownNames: ["my-box.example.org", "192.168.1.2"],
      hosts: ["quern", "https://chat.example.net:8443", "*.lan"],
    });
    for (const [host, status] of cases) {
      const origin = `http://${host}`;
      for (const method of ["GET", "DELETE", "OPTIONS"]) {
        const path = method === "DELETE" ? "/api/delete" : "/api/tags";
        const { status: got } = await app.request(path, { method, headers: { host, origin } });
        assertEquals([boundTo, host, method, got === 403], [boundTo, host, method, status === 403]);
      }
    }
  }
});
