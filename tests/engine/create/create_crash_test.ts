// A process that makes models is killed at random moments: every model that is listed is whole, and
// the next start leaves no blob without an owner. QUERN_KILLS is how often.

import { assert, assertEquals } from "@std/assert";
import { inspectModel } from "../../../engine/load/inspect.ts";
import { blobsOf, ModelName, ModelStore } from "../../../engine/store/mod.ts";
import { writeTinyLlama } from "../../tiny_model.ts";
import { createStore, make, upload } from "./world.ts";

const KILLS = Number(Deno.env.get("QUERN_KILLS") ?? 4);
/** Longest that the first victim lives, and those after it until one has made something; milliseconds. */
const LIFE = 150;
/** Kills more where a busy machine had nothing made between the others. */
const MORE_KILLS = 10;

/** Lets a process make models and kills it. */
async function killVictim(folder: string, digest: string, life: number): Promise<void> {
  const script = new URL("create_victim.ts", import.meta.url).pathname;
  const args = ["run", "-A", "--no-lock", "--no-check", script, folder, digest];
  const process = new Deno.Command(Deno.execPath(), { args, stdout: "piped" }).spawn();
  for await (const _ of process.stdout) {
    setTimeout(() => process.kill("SIGKILL"), Math.random() * life);
  }
  assertEquals((await process.status).signal, "SIGKILL");
}

/** Reads every model, cleans up, and gives the names. */
async function examine(folder: string): Promise<string[]> {
  const store = new ModelStore({
    folder,
    inspect: inspectModel,
    onBroken: (path, error) => {
      throw new Error(`${path} is broken: ${error}`);
    },
  });
  const entries = await store.list();
  const used = new Set<string>();
  for (const { name, manifest, info, defaults } of entries) {
    assertEquals(info.architecture, "llama");
    assertEquals(await store.readManifest(ModelName.parse(name)), manifest);
    if (/^plain/.test(name) && name !== "plain:latest") {
      assertEquals(typeof defaults.system, "string");
    }
    for (const digest of blobsOf(manifest!)) used.add(digest.replace(":", "-"));
  }
  const { skipped } = await store.prune();
  assertEquals(skipped, undefined);
  const files = await Array.fromAsync(Deno.readDir(store.blobs.folder));
  assertEquals(files.map(({ name }) => name).sort(), [...used].sort());
  return entries.map(({ name }) => name);
}

Deno.test(`after each of ${KILLS} kills every model that was made is whole`, async () => {
  const { store, folder } = await createStore();
  const path = await Deno.makeTempFile({ suffix: ".gguf" });
  await writeTinyLlama(path, { embedding: 256, layers: 4 });
  const digest = await upload(store, path);
  await Deno.remove(path);
  // Keeps the weights from being cleaned up.
  await make(store, { model: "plain", files: { "a.gguf": digest } });
  let names: string[] = [];
  let life = LIFE;
  for (let kill = 0; kill < KILLS || names.length < 2 && kill < KILLS + MORE_KILLS; kill++) {
    await killVictim(folder, digest, life);
    const now = await examine(folder);
    assertEquals(names.filter((name) => !now.includes(name)), []);
    if (now.length < 2) life *= 2;
    names = now;
  }
  assert(names.length > 1, "nothing was made between the kills");
});
