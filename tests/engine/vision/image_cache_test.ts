// Images that are remembered, and what becomes of those that are given up while they are read.

import { assert, assertEquals, assertRejects } from "@std/assert";
import type { ReadMedia } from "../../../engine/prompt/mod.ts";
import { MediaCache } from "../../../engine/encoder/mod.ts";

const IMAGE: ReadMedia = {
  parts: [{ key: "a", tokens: 1, embeddings: new Float32Array(4) }],
  texts: ["", ""],
};

/** A cache, how often each key was read, and the reads that have not ended. */
function setUp() {
  const cache = new MediaCache(100);
  const reads: (PromiseWithResolvers<ReadMedia> & { signal: AbortSignal })[] = [];
  const read = (signal: AbortSignal) => {
    const pending = Promise.withResolvers<ReadMedia>();
    reads.push({ ...pending, signal });
    return pending.promise;
  };
  const get = (signal?: AbortSignal) => cache.get("key", read, signal);
  return { get, reads };
}

Deno.test("MediaCache ends the reading of an image for which nobody waits any more", async () => {
  const { get, reads } = setUp();
  const abort = new AbortController();
  const image = get(abort.signal);
  abort.abort(new Error("gone"));
  await assertRejects(() => image, Error, "gone");
  assert(reads[0].signal.aborted);
  // Whatever comes of it, it is not kept.
  reads[0].resolve(IMAGE);
  const again = get();
  assertEquals(reads.length, 2);
  reads[1].resolve(IMAGE);
  assertEquals(await again, IMAGE);
  assertEquals(await get(), IMAGE);
  assertEquals(reads.length, 2);
});

Deno.test("MediaCache reads on for those who still wait", async () => {
  const { get, reads } = setUp();
  const abort = new AbortController();
  const [first, second] = [get(abort.signal), get()];
  abort.abort(new Error("gone"));
  await assertRejects(() => first, Error, "gone");
  assertEquals([reads.length, reads[0].signal.aborted], [1, false]);
  reads[0].resolve(IMAGE);
  assertEquals(await second, IMAGE);
  await assertRejects(() => get(abort.signal), Error, "gone");
});

Deno.test("MediaCache tells all who wait that an image cannot be read, and tries again", async () => {
  const { get, reads } = setUp();
  const both = [get(), get()];
  reads[0].reject(new Error("damaged"));
  for (const image of both) await assertRejects(() => image, Error, "damaged");
  const again = get();
  reads[1].resolve(IMAGE);
  assertEquals(await again, IMAGE);
});
