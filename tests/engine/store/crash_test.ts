// A process that changes a store is killed at random moments: the store has the state before the change
// or after it, and the next start leaves no blob without an owner. QUERN_KILLS is how often.

import { assert, assertEquals } from "@std/assert";
import { blobsOf, ModelStore } from "../../../engine/store/mod.ts";
import { fakeInfo } from "../../server/fake_model.ts";
import type { Change } from "./kill_victim.ts";
import { blobNames, sha256 } from "./world.ts";

const KILLS = Number(Deno.env.get("QUERN_KILLS") ?? 8);
/** Longest that a victim lives. In milliseconds. */
const LIFE = 60;

type Names = Map<string, string>;

/** Lets a process change the store and kills it; gives the states that it may have left. */
async function killVictim(folder: string, seed: number, before: Names): Promise<Names[]> {
  const script = new URL("kill_victim.ts", import.meta.url).pathname;
  const args = ["run", "-A", "--no-lock", "--no-check", script, folder, String(seed)];
  const process = new Deno.Command(Deno.execPath(), { args, stdout: "piped" }).spawn();
  const names = new Map(before);
  let text = "";
  for await (const chunk of process.stdout.pipeThrough(new TextDecoderStream())) {
    if (text === "") setTimeout(() => process.kill("SIGKILL"), Math.random() * LIFE);
    text += chunk;
  }
  assertEquals((await process.status).signal, "SIGKILL");
  let open: Change | undefined;
  for (const line of text.split("\n").slice(0, -1)) {
    const { change, done } = JSON.parse(line) as { change: Change; done: boolean };
    if (done) apply(names, change);
    open = done ? undefined : change;
  }
  const after = new Map(names);
  if (open) apply(after, open);
  return [names, after];
}

function apply(names: Names, { name, weights }: Change): void {
  const full = /:\w+$/.test(name) ? name : `${name}:latest`;
  const key = full.replace("localhost:5000/e", "localhost:5000/library/e");
  if (weights) names.set(key, weights);
  else names.delete(key);
}

/** What the store has, after a look at all of it. */
async function examine(folder: string): Promise<Names> {
  const store = new ModelStore({
    folder,
    inspect: () => Promise.resolve(fakeInfo),
    onBroken: (path, error) => {
      throw new Error(`${path} is broken: ${error}`);
    },
  });
  const names: Names = new Map();
  const used = new Set<string>();
  for (const { name, manifest } of await store.list()) {
    names.set(name, manifest!.layers[0]!.digest);
    for (const digest of blobsOf(manifest!)) used.add(digest.replace(":", "-"));
  }
  // As at the start of a server: what another program has left would be kept for its grace.
  const { skipped } = await store.prune();
  assertEquals(skipped, undefined);
  const files = blobNames(folder);
  assertEquals(files, [...used].sort());
  for (const file of files) {
    assertEquals(`sha256-${await sha256(await Deno.readFile(`${folder}/blobs/${file}`))}`, file);
  }
  const roots = [...Deno.readDirSync(`${folder}/manifests`)];
  assert(roots.every(({ isDirectory }) => isDirectory), "a temporary file was left behind");
  return names;
}

Deno.test(`after each of ${KILLS} kills the store has the old state or the new one`, async () => {
  const folder = await Deno.makeTempDir();
  try {
    // The first kill may come before there is a folder.
    await Deno.mkdir(`${folder}/manifests`);
    let names: Names = new Map();
    for (let kill = 0; kill < KILLS; kill++) {
      const possible = await killVictim(folder, kill, names);
      names = await examine(folder);
      const found = JSON.stringify([...names].sort());
      assert(
        possible.some((state) => JSON.stringify([...state].sort()) === found),
        `after kill ${kill}: ${found}, not one of ${
          JSON.stringify(possible.map((map) => [...map]))
        }`,
      );
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
