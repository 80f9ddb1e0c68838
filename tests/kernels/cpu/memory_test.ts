// Memories of the CPU device: how they grow, and what they give and take back.

import { assert, assertEquals } from "@std/assert";
import { CacheMemories, SharedMemory } from "../../../kernels/cpu/memory.ts";
import { advisePages, readText } from "../../../host/mod.ts";

Deno.test("a memory grows in few steps, whatever is taken from it", () => {
  const memory = new SharedMemory();
  let steps = 0;
  const grow = memory.memory.grow.bind(memory.memory);
  memory.memory.grow = (pages) => {
    steps++;
    return grow(pages);
  };
  for (let i = 0; i < 100; i++) assert(memory.take(2 ** 20) !== undefined);
  assertEquals(memory.taken, 100 * 2 ** 20);
  assert(steps <= 2, `it grew ${steps} times`);
});

Deno.test("a memory grows by no more than needed if the system has no more", () => {
  const memory = new SharedMemory();
  const grow = memory.memory.grow.bind(memory.memory);
  memory.memory.grow = (pages) => {
    if (pages > 40) throw new RangeError("out of memory");
    return grow(pages);
  };
  assert(memory.take(2 ** 20) !== undefined);
  assert(memory.take(2 ** 20) !== undefined);
  assertEquals(memory.take(4 * 2 ** 20), undefined);
});

/** Whether Linux gives pages of 2 MiB to whoever asks for them. */
function givesHugePages(): boolean {
  const enabled = readText("/sys/kernel/mm/transparent_hugepage/enabled") ?? "";
  return Deno.build.os === "linux" && !enabled.includes("[never]") && enabled !== "";
}

/** KiB of this process in pages of 2 MiB. */
function hugePages(): number {
  const maps = Deno.readTextFileSync("/proc/self/smaps");
  return [...maps.matchAll(/^AnonHugePages:\s+(\d+)/gm)]
    .reduce((sum, [, size]) => sum + Number(size), 0);
}

Deno.test({
  name: "a large memory has pages of 2 MiB where the system gives them",
  ignore: !givesHugePages(),
}, () => {
  const memory = new SharedMemory();
  const before = hugePages();
  const [bytes, address] = [32 * 2 ** 20, memory.take(2 ** 10)!];
  const large = memory.take(bytes)!;
  assert(large > address);
  new Uint8Array(memory.memory.buffer, large, bytes).fill(1);
  // Where memory is fragmented the system may give fewer.
  const gained = (hugePages() - before) * 1024;
  assert(gained >= bytes / 2, `${gained} bytes of ${bytes} are in large pages`);
});

Deno.test({
  name:
    "keys and values take the memory that they use: no step waits for large pages of all layers",
  ignore: !givesHugePages(),
}, () => {
  const caches = new CacheMemories();
  const before = hugePages();
  const touched = 8 * 2 ** 23;
  for (let layer = 0; layer < 8; layer++) {
    const { bytes } = caches.take("keys", 2 ** 23);
    for (let at = 0; at < bytes.length; at += 2 ** 21) bytes[at] = 1;
  }
  const gained = (hugePages() - before) * 1024;
  assert(gained < touched / 8, `${gained} bytes of ${touched} are in large pages`);
});

Deno.test({
  name: "without the permission to call libc a memory has ordinary pages",
  permissions: { ffi: false },
}, () => {
  const { memory } = new SharedMemory();
  assertEquals(advisePages(memory, 2 ** 22, "huge"), false);
});
