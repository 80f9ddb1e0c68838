// Memories of the CPU device: how they grow, and what they give and take back.

import { assert, assertEquals } from "@std/assert";
import { SharedMemory } from "../../../kernels/cpu/memory.ts";

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
