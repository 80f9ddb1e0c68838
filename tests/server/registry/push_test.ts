// Pushes to a registry that is played: sessions that break, and what the user is told.

import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { ModelNotFoundError } from "../../../engine/mod.ts";
import { pushModel, RegistryError } from "../../../server/registry/mod.ts";
import { addModel, collect, openStore, QUICK, sampleModel, withFolder } from "./fixtures.ts";
import { UploadRegistry } from "./upload_registry.ts";

const NAME = "registry.test/sample";

async function withModel(
  test: (
    push: (name?: string) => ReturnType<typeof collect>,
    registry: UploadRegistry,
    model: ReturnType<typeof sampleModel>,
  ) => Promise<void>,
): Promise<void> {
  await withFolder(async (folder) => {
    const registry = new UploadRegistry();
    const model = sampleModel();
    const store = openStore(folder);
    await addModel(store, NAME, model);
    const options = {
      signal: new AbortController().signal,
      tuning: QUICK,
      fetch: registry.fetch,
      keyPath: "does-not-exist",
    };
    await test((name = NAME) => collect(pushModel(store, name, options)), registry, model);
  });
}

function assertArrived(registry: UploadRegistry, model: ReturnType<typeof sampleModel>): void {
  assertEquals(new Map([...registry.blobs].sort()), new Map([...model.blobs].sort()));
  assertEquals([...registry.manifests], [["/v2/library/sample/manifests/latest", model.bytes]]);
}

Deno.test("pushModel() sends blobs in chunks, then the manifest, and reports as Ollama does", () =>
  withModel(async (push, registry, model) => {
    const records = await push();
    assertArrived(registry, model);
    assertEquals(records.filter(({ digest }) => !digest).map(({ status }) => status), [
      "retrieving manifest",
      "pushing manifest",
      "success",
    ]);
    const { digest, size } = model.weights;
    const ofWeights = records.filter((record) => record.digest === digest);
    const status = `pushing ${digest.slice(7, 19)}`;
    assertEquals(ofWeights[0], { status, digest, total: size });
    assertEquals(ofWeights.at(-1), { status, digest, total: size, completed: size });
    const ranges = registry.requests.map(({ headers }) => headers.get("content-range"));
    assertEquals(ranges.filter((range) => /0-\d{5,6}$|50000-/.test(range ?? "")).slice(0, 2), [
      "0-49999",
      "50000-99999",
    ]);
    assertEquals(registry.requests.at(-1)!.method, "PUT", "the manifest comes last");
    const type = registry.requests.at(-1)!.headers.get("content-type");
    assertEquals(type, "application/vnd.docker.distribution.manifest.v2+json");
  }));

Deno.test("pushModel() follows locations with a host", () =>
  withModel(async (push, registry, model) => {
    registry.locationPrefix = "https://uploads.test";
    await push();
    assertArrived(registry, model);
    assert(registry.requests.some(({ url }) => url.host === "uploads.test"));
  }));

Deno.test("pushModel() goes on where a broken session is", () =>
  withModel(async (push, registry, model) => {
    let broken = false;
    registry.fault = ({ method, headers }) => {
      if (broken || method !== "PATCH" || !headers.get("content-range")!.startsWith("100000-")) {
        return undefined;
      }
      broken = true;
      throw new TypeError("reset");
    };
    await push();
    assertArrived(registry, model);
    const starts = registry.requests.filter(({ method, body }) =>
      method === "PATCH" && body.length > 1000
    )
      .map(({ headers }) => headers.get("content-range")!.split("-")[0]);
    assertEquals(starts, ["0", "50000", "100000", "100000", "150000", "200000", "250000"]);
  }));

Deno.test("pushModel() starts a new session where the old one is gone", () =>
  withModel(async (push, registry, model) => {
    let lost = false;
    registry.fault = ({ method, headers }) => {
      if (!lost && method === "PATCH" && headers.get("content-range")!.startsWith("150000-")) {
        lost = true;
        registry.forgetSessions();
      }
      return undefined;
    };
    await push();
    assert(lost);
    assertArrived(registry, model);
  }));

Deno.test("pushModel() starts a new session where the old one is gone before its commit", () =>
  withModel(async (push, registry, model) => {
    let lost = false;
    registry.fault = ({ method }) => {
      if (!lost && method === "PUT") {
        lost = true;
        registry.forgetSessions();
      }
      return undefined;
    };
    await push();
    assert(lost);
    assertArrived(registry, model);
  }));

Deno.test("pushModel() gets over 503, 429 and a reset", () =>
  withModel(async (push, registry, model) => {
    const faults: (() => Response)[] = [
      () => new Response(null, { status: 503 }),
      () => new Response(null, { status: 429, headers: { "retry-after": "0" } }),
      () => {
        throw new TypeError("reset");
      },
    ];
    registry.fault = (_, index) => index % 3 === 1 ? faults.shift()?.() : undefined;
    await push();
    assertEquals(faults, []);
    assertArrived(registry, model);
  }));

Deno.test("pushModel() sends its token to the registry alone", () =>
  withModel(async (push, registry, model) => {
    registry.locationPrefix = "https://uploads.test";
    registry.fault = ({ url, headers }) => {
      if (url.pathname === "/token") return Response.json({ access_token: "secret" });
      if (url.host !== "registry.test" || headers.has("authorization")) return undefined;
      const challenge = 'Bearer realm="https://registry.test/token",scope="repository:x:push,pull"';
      return new Response(null, { status: 401, headers: { "www-authenticate": challenge } });
    };
    await push();
    assertArrived(registry, model);
    for (const { url, headers } of registry.requests) {
      if (url.host !== "registry.test") assertEquals(headers.has("authorization"), false);
    }
    assertEquals(registry.requests.filter(({ url }) => url.pathname === "/token").length, 1);
  }));

Deno.test("pushModel() says why the registry refuses, and leaves no manifest", () =>
  withModel(async (push, registry) => {
    registry.fault = ({ method }) =>
      method === "POST"
        ? Response.json({ errors: [{ message: "not your namespace" }] }, { status: 403 })
        : undefined;
    const error = await assertRejects(() => push(), RegistryError);
    assertEquals(error.status, 403);
    assertMatch(error.message, /Cannot push blob sha256:\w+: .*403.*: not your namespace/);
    assertEquals(registry.manifests.size, 0);
  }));

Deno.test("pushModel() gives up on chunks that never arrive", () =>
  withModel(async (push, registry) => {
    registry.fault = ({ method }) =>
      method === "PATCH" ? new Response(null, { status: 502 }) : undefined;
    const error = await assertRejects(() => push(), RegistryError);
    assertMatch(error.message, /502.*given up after 4 attempts without progress/);
    assertEquals(registry.manifests.size, 0);
  }));

Deno.test("pushModel() knows no model of that name", () =>
  withModel(async (push) => {
    await assertRejects(() => push("registry.test/other"), ModelNotFoundError);
  }));
