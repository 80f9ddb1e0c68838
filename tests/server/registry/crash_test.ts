// Pulls that are killed at random moments, and processes that pull the same model. QUERN_KILLS
// sets the number of kills; the everyday one is small.

import { assert, assertEquals } from "@std/assert";
import { ModelName } from "../../../engine/mod.ts";
import { pullModel } from "../../../server/registry/mod.ts";
import { FakeRegistry } from "./fake_registry.ts";
import {
  blobFiles,
  collect,
  digestOf,
  openStore,
  QUICK,
  sampleModel,
  withFolder,
} from "./fixtures.ts";

const KILLS = Number(Deno.env.get("QUERN_KILLS") ?? 4);
const options = { insecure: true, signal: new AbortController().signal, tuning: QUICK };
const CHILD = import.meta.resolve("./pull_child.ts");

function startChild(folder: string, name: string): Deno.ChildProcess {
  const args = ["run", "-A", "--no-check", "--no-lock", CHILD, folder, name];
  return new Deno.Command(Deno.execPath(), { args, stdout: "piped", stderr: "inherit" }).spawn();
}

Deno.test(`a store survives ${KILLS} kills of a process that pulls`, () =>
  withFolder(async (folder) => {
    const model = sampleModel();
    await using registry = new FakeRegistry(model);
    const store = openStore(folder);
    const name = ModelName.parse(registry.name);
    let killed = 0;
    while (killed < KILLS) {
      const isPulling = Promise.withResolvers<void>();
      registry.misbehave(({ kind }, proper) => {
        if (kind === "manifest") isPulling.resolve();
        return { ...proper, pace: { bytes: 4000, milliseconds: 2 } };
      });
      const child = startChild(folder, registry.name);
      const output = child.output();
      await Promise.race([isPulling.promise, output]);
      await new Promise((done) => setTimeout(done, Math.random() * 150));
      try {
        child.kill("SIGKILL");
      } catch {
        // It was done before.
      }
      const { stdout } = await output;
      if (stdout.length === 0) killed++;

      // The old state or the new one: no manifest, or one whose blobs are all whole.
      const manifest = await store.readManifest(name);
      assertEquals((await store.list()).length, manifest ? 1 : 0);
      if (manifest) {
        await assertWhole();
        await store.remove(registry.name);
      }
    }
    registry.recover();
    await collect(pullModel(store, registry.name, options));
    await assertWhole();
    await store.prune();
    assertEquals((await blobFiles(store)).length, model.blobs.size);

    async function assertWhole(): Promise<void> {
      for (const digest of model.blobs.keys()) {
        assertEquals(digestOf(await Deno.readFile(store.blobs.pathOf(digest))), digest);
      }
    }
  }));

Deno.test("processes that pull the same model at once download it once", () =>
  withFolder(async (folder) => {
    const model = sampleModel();
    await using registry = new FakeRegistry(model);
    registry.misbehave((_, proper) => ({ ...proper, pace: { bytes: 4000, milliseconds: 10 } }));
    const children = [0, 1, 2].map(() => startChild(folder, registry.name));
    for (const child of children) {
      const { stdout } = await child.output();
      assertEquals(new TextDecoder().decode(stdout), "done");
    }
    const bytes = registry.requestsFor(model.weights.digest)
      .reduce((sum, { range: [first, last] = [0, 0] }) => sum + last + 1 - first, 0);
    assertEquals(bytes, 300_000);
    const store = openStore(folder);
    assert(await store.find(registry.name));
    assertEquals((await blobFiles(store)).length, model.blobs.size);
  }));
