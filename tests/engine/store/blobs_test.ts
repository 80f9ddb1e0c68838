// Blobs: kept under their digests, whole or not at all.

import { assertEquals, assertMatch, assertRejects, assertThrows } from "@std/assert";
import { DigestError, StoreError } from "../../../engine/store/mod.ts";
import { blobNames, sha256, withFiles, writeFile } from "./world.ts";

const encode = (text: string) => new TextEncoder().encode(text);
const ABC = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

Deno.test("put() keeps bytes and streams under their digest, once", async () => {
  await withFiles({}, async ({ folder, createStore }) => {
    const { blobs } = createStore();
    assertEquals(await blobs.sizeOf(ABC), undefined);
    assertEquals(await blobs.put(encode("abc")), { digest: ABC, size: 3, existed: false });
    const stream = ReadableStream.from(["a", "", "bc"].map(encode));
    assertEquals(await blobs.put(stream), { digest: ABC, size: 3, existed: true });
    assertEquals(new TextDecoder().decode(await blobs.read(ABC)), "abc");
    assertEquals(await blobs.sizeOf(ABC.toUpperCase().replace("SHA256:", "sha256-")), 3);
    assertEquals(blobNames(folder), [ABC.replace(":", "-")]);
    assertEquals(blobs.partialPath(ABC), `${folder}/blobs/${ABC.replace(":", "-")}-partial`);
  });
});

Deno.test("put() checks the digest it is given, and reads nothing that it has", async () => {
  await withFiles({}, async ({ folder, createStore }) => {
    const { blobs } = createStore();
    const { message } = await assertRejects(
      () => blobs.put(encode("abd"), { digest: ABC }),
      DigestError,
    );
    const actual = `sha256:${await sha256("abd")}`;
    assertEquals(message, `digest mismatch, expected "${ABC}", got "${actual}"`);
    assertEquals(blobNames(folder), []);
    await blobs.put(encode("abc"), { digest: ABC });
    let cancelled = false;
    const stream = new ReadableStream<Uint8Array>({ cancel: () => void (cancelled = true) });
    assertEquals((await blobs.put(stream, { digest: ABC })).existed, true);
    assertEquals(cancelled, true);
  });
});

Deno.test("put() leaves nothing behind when it is aborted or its stream fails", async () => {
  await withFiles({}, async ({ folder, createStore }) => {
    const { blobs } = createStore();
    const abort = new AbortController();
    const stalled = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(encode("a")),
      pull: () => abort.abort(new Error("enough")),
    });
    await assertRejects(() => blobs.put(stalled, { signal: abort.signal }), Error, "enough");
    const failing = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.error(new Error("cut")),
    });
    await assertRejects(() => blobs.put(failing), Error, "cut");
    assertEquals(blobNames(folder), []);
  });
});

Deno.test("adopt() takes a finished file over", async () => {
  await withFiles({}, async ({ folder, createStore }) => {
    const { blobs } = createStore();
    await writeFile(blobs.partialPath(ABC), "abc");
    await blobs.adopt(blobs.partialPath(ABC), ABC);
    assertEquals([blobNames(folder), await blobs.sizeOf(ABC)], [[ABC.replace(":", "-")], 3]);
  });
});

Deno.test("no digest leads out of the folder of blobs", async () => {
  await withFiles({}, async ({ createStore }) => {
    const { blobs } = createStore();
    for (
      const digest of ["", "sha256:1", `sha256:${"g".repeat(64)}`, "../x", `md5:${"a".repeat(64)}`]
    ) {
      const error = assertThrows(() => blobs.pathOf(digest), StoreError);
      assertMatch(error.message, /^invalid digest format/);
    }
    await assertRejects(() => blobs.read(ABC), StoreError, "is not in the store");
  });
});
