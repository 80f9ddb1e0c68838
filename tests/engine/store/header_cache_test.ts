// HeaderCache: what failed once is tried again, and what did not is kept.

import { HeaderCache } from "../../../engine/store/header_cache.ts";
import { assertEquals, assertRejects } from "@std/assert";

Deno.test("a digest or header that failed is computed again, and kept once it is there", async () => {
  const file = { path: "a.gguf", size: 1, modified: new Date(0), stamp: "1" };
  let calls = 0;
  const failsOnce = (): Promise<never> | Promise<string> => {
    if (++calls === 1) return Promise.reject(new Deno.errors.Busy("too many open files"));
    return Promise.resolve(`digest ${calls}`);
  };
  const cache = new HeaderCache(() => Promise.reject(new Error("not asked")));
  await assertRejects(() => cache.digest(file, failsOnce), Deno.errors.Busy);
  assertEquals(await cache.digest(file, failsOnce), "digest 2");
  assertEquals(await cache.digest(file, failsOnce), "digest 2");
  assertEquals(await cache.digest({ ...file, stamp: "2" }, failsOnce), "digest 3");
});
