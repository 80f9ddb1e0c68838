// Manifests that exist and cannot be seen: no blob goes while there may be one, and the result says
// which files would have gone.

import { MEDIA } from "../../../engine/store/mod.ts";
import { later } from "../../clock.ts";
import { blobNames, withFiles, type World, writeFile, writeModel } from "./world.ts";
import { assertEquals, assertStringIncludes } from "@std/assert";

const HERE = "manifests/registry.ollama.ai/library";
const HOUR = 3_600_000;

/** Ways to take the manifest of `a` out of sight, and what the store says of it. */
const HIDDEN: [how: string, hide: (folder: string) => Promise<void>, state: string][] = [
  ["is a link to a disk that is not mounted", async (folder) => {
    await Deno.rename(`${folder}/${HERE}/a/latest`, `${folder}/elsewhere`);
    await Deno.symlink("/no/such/disk/latest", `${folder}/${HERE}/a/latest`);
  }, `a/latest": it is a link to something that is not there`],
  ["is in a folder that is such a link", async (folder) => {
    await Deno.rename(`${folder}/${HERE}/a`, `${folder}/elsewhere`);
    await Deno.symlink("/no/such/disk", `${folder}/${HERE}/a`);
  }, `library/a": it is a link to something that is not there`],
  ["is in a host that is such a link", async (folder) => {
    await Deno.rename(`${folder}/manifests/registry.ollama.ai`, `${folder}/elsewhere`);
    await Deno.symlink("/no/such/disk", `${folder}/manifests/registry.ollama.ai`);
  }, `registry.ollama.ai": it is a link to something that is not there`],
  ["is in the folder of manifests, which is such a link", async (folder) => {
    await Deno.rename(`${folder}/manifests`, `${folder}/elsewhere`);
    await Deno.symlink("/no/such/disk", `${folder}/manifests`);
  }, `manifests": it is a link to something that is not there`],
  ["is in the folder of manifests, which is missing", async (folder) => {
    await Deno.rename(`${folder}/manifests`, `${folder}/elsewhere`);
  }, `manifests" has no manifests, though there are blobs`],
  ["is in the folder of manifests, in whose place is an empty one", async (folder) => {
    await Deno.rename(`${folder}/manifests`, `${folder}/elsewhere`);
    await Deno.mkdir(`${folder}/manifests`);
  }, `manifests" has no manifests, though there are blobs`],
  ["is in the folder of manifests, in whose place is a file", async (folder) => {
    await Deno.rename(`${folder}/manifests`, `${folder}/elsewhere`);
    await Deno.writeTextFile(`${folder}/manifests`, "");
  }, `manifests": `],
  ["is a link to itself", async (folder) => {
    await Deno.remove(`${folder}/${HERE}/a/latest`);
    await Deno.symlink(`latest`, `${folder}/${HERE}/a/latest`);
  }, `a/latest": `],
  ["is too large to be one", async (folder) => {
    await Deno.truncate(`${folder}/${HERE}/a/latest`, 2 ** 30);
  }, `a/latest" is too large for a manifest`],
  ["is listed by another that is not there", async (folder) => {
    await Deno.writeTextFile(
      `${folder}/${HERE}/a/latest`,
      JSON.stringify({
        mediaType: "application/vnd.ollama.manifest.list.v2+json",
        manifests: [{ digest: `sha256:${"ab".repeat(32)}` }],
      }),
    );
  }, `blob sha256:abab`],
];

for (const [how, hide, state] of HIDDEN) {
  // Where the whole folder or host is out of sight, no other is in sight.
  const isAlone = /folder of manifests|in a host/.test(how);
  for (const others of isAlone ? ["alone"] : ["alone", "beside another"]) {
    Deno.test({
      name: `prune() removes no blob of a manifest that ${how}, ${others}`,
      ignore: Deno.build.os === "windows",
      fn: () =>
        withFiles({}, async ({ folder, createStore }) => {
          const store = createStore();
          const weights = await writeModel(store, "a", "weights", [[MEDIA.system, "shared"]]);
          // Blobs that lost a manifest are noted, and the hidden one may still need them.
          await writeModel(store, "b", "other", [[MEDIA.system, "shared"]]);
          if (others === "alone") await store.remove("b");
          else await writeModel(store, "b", "other");
          const before = blobNames(folder);
          await hide(folder);
          const { removed, skipped, kept } = await createStore().prune({ graceMilliseconds: 0 });
          assertEquals([removed, blobNames(folder)], [0, before]);
          assertStringIncludes(skipped!, state);
          assertStringIncludes(kept!.names.join(), weights.replace(":", "-"));
        }),
    });
  }
}

Deno.test("an empty folder among manifests may be where a disk was, unless it was just made", () =>
  withFiles({}, async ({ folder, createStore }) => {
    const store = createStore();
    await writeModel(store, "a", "one");
    await writeFile(`${folder}/blobs/sha256-${"1".repeat(64)}`, "12345");
    await Deno.mkdir(`${folder}/manifests/hf.co`);
    assertEquals(await store.prune({ graceMilliseconds: 0 }), { removed: 1, bytes: 5 });
    await writeFile(`${folder}/blobs/sha256-${"1".repeat(64)}`, "12345");
    using _later = later(2 * HOUR);
    const { removed, skipped } = await store.prune({ graceMilliseconds: 0 });
    assertEquals(removed, 0);
    assertStringIncludes(skipped!, `hf.co" is empty, as if a disk were not mounted there`);
  }));

Deno.test("blobs that are restored before their manifests are young, whatever times they have", () =>
  withFiles({}, async ({ folder, createStore }) => {
    await writeModel(createStore(), "a", "one");
    await restore(folder, async (backup) => {
      await writeModel(createStore(), "other", "two");
      const old = new Date("2020-01-01");
      for (const { name } of Deno.readDirSync(`${backup}/blobs`)) {
        await Deno.copyFile(`${backup}/blobs/${name}`, `${folder}/blobs/${name}`);
        await Deno.utime(`${folder}/blobs/${name}`, old, old);
      }
      const before = blobNames(folder);
      assertEquals(await createStore().prune(), { removed: 0, bytes: 0 });
      assertEquals(blobNames(folder), before);
      using _later = later(8 * 24 * HOUR);
      assertEquals((await createStore().prune()).removed, 1);
    });
  }));

Deno.test("what is noted of blobs says nothing of others that were restored under their names", () =>
  withFiles({}, async ({ folder, createStore }) => {
    const store = createStore();
    await store.blobs.put(new TextEncoder().encode("never named"));
    await restore(folder, async (backup) => {
      await writeModel(createStore(), "other", "two");
      await Deno.copyFile(`${backup}/.quern-lock-noted`, `${folder}/.quern-lock-noted`);
      for (const { name } of Deno.readDirSync(`${backup}/blobs`)) {
        await Deno.copyFile(`${backup}/blobs/${name}`, `${folder}/blobs/${name}`);
      }
      const before = blobNames(folder);
      assertEquals((await createStore().prune()).removed, 0);
      assertEquals(blobNames(folder), before);
    });
  }));

Deno.test("the blobs of a removed model stay while a manifest is out of sight, and go afterwards", () =>
  withFiles({}, async ({ folder, createStore }) => {
    const store = createStore();
    const shared = await writeModel(store, "a", "shared");
    await writeModel(store, "b", "shared");
    await Deno.rename(`${folder}/${HERE}/b`, `${folder}/elsewhere`);
    await Deno.symlink(`${folder}/mounted`, `${folder}/${HERE}/b`);
    await store.remove("a");
    assertEquals(await store.blobs.sizeOf(shared), 6);
    await Deno.rename(`${folder}/elsewhere`, `${folder}/mounted`);
    assertEquals((await store.find("b")).info.fileSize, 6);
    await store.remove("b");
    assertEquals(blobNames(folder), []);
  }));

Deno.test("the blobs of a removed model stay where the folder of manifests is no more the same", () =>
  withFiles({}, async ({ folder, createStore }) => {
    const store = createStore();
    const shared = await writeModel(store, "a", "shared");
    await writeModel(store, "b", "shared");
    await store.protect(async () => {
      await store.remove("a");
      await Deno.rename(`${folder}/manifests`, `${folder}/elsewhere`);
      await Deno.mkdir(`${folder}/manifests`);
    });
    assertEquals(await store.blobs.sizeOf(shared), 6);
  }));

Deno.test("a store whose last model was removed is cleaned up, also after a crash", () =>
  withFiles({}, async ({ folder, createStore }) => {
    const store = createStore({ keepUnused: true }); // as if it had crashed before
    await writeModel(store, "a", "one");
    await store.remove("a");
    assertEquals(blobNames(folder).length, 2);
    assertEquals((await createStore().prune()).removed, 2);
  }));

/** Puts the folder away as a backup, and gives an empty one in its place. */
async function restore(
  folder: World["folder"],
  work: (backup: string) => Promise<void>,
): Promise<void> {
  const backup = `${folder}-backup`;
  await Deno.rename(folder, backup);
  await Deno.mkdir(folder);
  await work(backup).finally(() => Deno.remove(backup, { recursive: true }));
}
