// Two processes that change one store at the same time, cleaning up in between, while a third one looks:
// no manifest ever names a blob that is not there.

import { assert, assertEquals } from "@std/assert";
import { blobsOf, ModelStore } from "../../../engine/store/mod.ts";
import { fakeInfo } from "../../server/fake_model.ts";
import { blobNames, sha256 } from "./world.ts";

const CHANGES = Number(Deno.env.get("QUERN_CHANGES") ?? 60);

Deno.test(`two processes make ${CHANGES} changes each to one store and lose no blob`, async () => {
  const folder = await Deno.makeTempDir();
  try {
    const script = new URL("kill_victim.ts", import.meta.url).pathname;
    const processes = [1, 2].map((seed) => {
      const victim = [script, folder, String(seed), String(CHANGES)];
      const args = ["run", "-A", "--no-lock", "--no-check", ...victim];
      return new Deno.Command(Deno.execPath(), { args, stdout: "null" }).spawn();
    });
    const faults: string[] = [];
    const store = new ModelStore({
      folder,
      inspect: () => Promise.resolve(fakeInfo),
      onBroken: (path, error) => void faults.push(`${path}: ${error}`),
    });
    let running = true;
    const end = Promise.all(processes.map(({ status }) => status)).finally(() => running = false);
    let most = 0;
    while (running) {
      most = Math.max(most, (await store.list()).length);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    assertEquals((await end).map(({ code }) => code), [0, 0]);
    assertEquals(faults, []);
    assert(most > 1, "the listings never saw several models");

    assertEquals((await store.prune({ graceMilliseconds: 0 })).skipped, undefined);
    const entries = await store.list();
    const used = entries.flatMap(({ manifest }) => blobsOf(manifest!));
    const files = [...new Set(used)].map((digest) => digest.replace(":", "-")).sort();
    assertEquals([blobNames(folder), faults], [files, []]);
    for (const file of files) {
      assertEquals(`sha256-${await sha256(await Deno.readFile(`${folder}/blobs/${file}`))}`, file);
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
