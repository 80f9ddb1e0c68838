// The cache of the store: what is used stays, what it holds is bounded.

import { BoundedCache } from "../../../engine/store/bounded_cache.ts";
import { withFiles, writeModel } from "./world.ts";
import { assertEquals, assertRejects } from "@std/assert";
import { MEDIA, ModelName, StoreError } from "../../../engine/store/mod.ts";

Deno.test("a cache keeps within its bytes what was used last, and the newest whatever its size", () => {
  const cache = new BoundedCache<number>(100);
  for (let i = 0; i < 20; i++) {
    cache.set(`${i}`, i, 10);
    cache.get("0");
  }
  const kept = () => Array.from({ length: 30 }, (_, i) => i).filter((i) => cache.get(`${i}`) === i);
  assertEquals(kept(), [0, 11, 12, 13, 14, 15, 16, 17, 18, 19]);
  cache.set("5", 5, 1000);
  assertEquals(kept(), [5]);
  cache.set("5", 5, 10);
  cache.set("6", 6, 10);
  assertEquals(kept(), [5, 6]);
  cache.delete("5");
  for (let i = 10; i < 19; i++) cache.set(`${i}`, i, 10);
  assertEquals(kept(), [6, 10, 11, 12, 13, 14, 15, 16, 17, 18]);
});

Deno.test("a model that is read again and again is read once, and a large one is forgotten for others", () =>
  withFiles({}, async ({ createStore }) => {
    const store = createStore();
    let reads = 0;
    const read = store.blobs.read.bind(store.blobs);
    store.blobs.read = (digest) => (reads++, read(digest));
    const big = "x".repeat(10 * 2 ** 20);
    for (let i = 0; i < 4; i++) {
      await writeModel(store, "a", "weights", [[MEDIA.license, `${i}${big}`]]);
      reads = 0;
      for (let j = 0; j < 3; j++) {
        assertEquals((await store.find("a")).defaults.license[0]![0], `${i}`);
      }
      assertEquals(reads, 2);
    }
    await writeModel(store, "b", "weights", [[MEDIA.license, `b${big}`]]);
    await store.find("b");
    reads = 0;
    await store.find("a");
    assertEquals(reads, 2);
  }));

Deno.test("a model whose texts are larger together than one may be is refused, not read", () =>
  withFiles({}, async ({ createStore }) => {
    const store = createStore();
    const config = await store.blobs.put(new TextEncoder().encode("{}"));
    const text = await store.blobs.put(new Uint8Array(30 * 2 ** 20));
    const layers = Array(20).fill({ mediaType: MEDIA.license, ...text });
    await store.writeManifest(ModelName.parse("a"), {
      schemaVersion: 2,
      mediaType: MEDIA.manifest,
      config: { mediaType: MEDIA.config, ...config },
      layers: [{ mediaType: MEDIA.model, ...config }, ...layers],
    });
    await assertRejects(() => store.find("a"), StoreError, "67108864 bytes together");
  }));
