// Files in the making, on a disk that is full, and removals that have to work there.

import { assertEquals, assertRejects } from "@std/assert";
import { withTemporaryFile } from "../../../engine/create/staging.ts";
import { packError, unpackError } from "../../../engine/error_record.ts";
import { StoreError } from "../../../engine/store/mod.ts";
import { withFiles, writeModel } from "../store/world.ts";

Deno.test("what is made on a full disk fails with a sentence, on another thread too", async () => {
  await withFiles({}, async ({ createStore }) => {
    const { blobs } = createStore();
    const full = Object.assign(new Error("No space left on device"), { code: "ENOSPC" });
    for (const error of [full, unpackError(packError(full))]) {
      const making = () => withTemporaryFile(blobs, () => Promise.reject(error));
      const { cause } = await assertRejects(making, StoreError, "the disk is full: make room");
      assertEquals(cause, error);
    }
    await assertRejects(
      () => withTemporaryFile(blobs, () => Promise.reject(new Error("x"))),
      Error,
      "x",
    );
  });
});

Deno.test("a model can be removed where nothing can be noted of it", async () => {
  await withFiles({}, async ({ folder, createStore }) => {
    const store = createStore();
    await writeModel(store, "a", "one");
    await store.prune();
    // A folder in place of the list stands for a disk that takes no byte more.
    await Deno.mkdir(`${folder}/.quern-lock-noted`);
    await store.remove("a");
    assertEquals(await store.list(), []);
    assertEquals([...Deno.readDirSync(`${folder}/blobs`)], []);
  });
});
