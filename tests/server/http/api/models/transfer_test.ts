// POST /api/pull and /api/push: the records of the registry's client as answers. The client itself is
// tested in registry/.

import { assert, assertEquals } from "@std/assert";
import type { Registry } from "../../../../../server/http/app_types.ts";
import { DiskFullError, RegistryError } from "../../../../../server/registry/mod.ts";
import { createStoreApp } from "../../../store_app.ts";
import { readLines } from "../../../test_app.ts";
import { until } from "../../../../until.ts";

const sha = `sha256:${"7".repeat(64)}`;
const records = [
  { status: "pulling manifest" },
  { status: "pulling 777777777777", digest: sha, total: 10 },
  { status: "pulling 777777777777", digest: sha, total: 10, completed: 10 },
  { status: "success" },
];

/** An application whose registry does this both ways. */
async function appWith(transfer: Registry["pull"]) {
  return await createStoreApp({ registry: { pull: transfer, push: transfer } });
}

for (const path of ["/api/pull", "/api/push"]) {
  Deno.test(`POST ${path} streams the records, or gives the last one`, async () => {
    const asked: unknown[] = [];
    const { send } = await appWith(async function* (_store, name, { insecure }) {
      asked.push([name, insecure]);
      yield* records;
    });
    const streamed = await send("POST", path, { model: "localhost:5000/a/b:c", insecure: true });
    assertEquals(streamed.headers.get("content-type"), "application/x-ndjson");
    assertEquals(await readLines(streamed), records);
    const whole = await send("POST", path, { name: "hf.co/user/repo:Q4_K_M", stream: false });
    assertEquals(whole.headers.get("content-type"), "application/json; charset=utf-8");
    assertEquals(await whole.json(), { status: "success" });
    assertEquals(asked, [["localhost:5000/a/b:c", true], ["hf.co/user/repo:Q4_K_M", false]]);
  });

  Deno.test(`POST ${path} tells what goes wrong by a status, or by its last line`, async () => {
    const cases: [error: Error, status: number][] = [
      [new RegistryError("pull model manifest: file does not exist", { status: 404 }), 404],
      [new RegistryError("Cannot pull: access denied", { status: 401 }), 403],
      [new RegistryError("Cannot pull: the registry fails", { status: 503 }), 502],
      [new DiskFullError(10, 5), 507],
    ];
    for (const [error, status] of cases) {
      const { send } = await appWith(async function* () {
        yield records[0]!;
        throw error;
      });
      const whole = await send("POST", path, { model: "x", stream: false });
      assertEquals([whole.status, await whole.json()], [status, { error: error.message }]);
      const streamed = await send("POST", path, { model: "x" });
      assertEquals(await readLines(streamed), [records[0]!, { error: error.message }]);
    }
  });

  Deno.test(`POST ${path} ends when the client goes away`, async () => {
    let ended = false;
    const { send } = await appWith(async function* (_store, _name, { signal }) {
      yield records[0]!;
      try {
        await new Promise((_, reject) => {
          signal.addEventListener("abort", () => reject(signal.reason));
        });
      } finally {
        ended = true;
      }
    });
    const { body } = await send("POST", path, { model: "x" });
    const reader = body!.getReader();
    await reader.read();
    void reader.read().catch(() => {});
    await reader.cancel();
    await until(() => ended);
  });

  Deno.test(`POST ${path} refuses what is no name`, async () => {
    const { send } = await appWith(async function* () {
      yield* records;
    });
    for (const body of [{}, { model: "" }, { model: "a b" }, { name: "a/b/c/d" }]) {
      const response = await send("POST", path, body);
      assertEquals(response.status, 400);
      assertEquals(await response.json(), { error: "invalid model name" });
    }
    const response = await send("POST", path, { model: "x", insecure: "yes" });
    assertEquals(await response.json(), { error: "insecure must be of type boolean" });
  });
}

Deno.test("what is pushed has to be there", async () => {
  const { send } = await createStoreApp();
  const response = await send("POST", "/api/push", { model: "user/nope", stream: false });
  assertEquals(response.status, 404);
  assert((await response.json()).error.includes("not found"));
});
