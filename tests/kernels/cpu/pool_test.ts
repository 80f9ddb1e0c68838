// Threads that share steps: every item is computed once, phases are in order, whatever the number of
// threads; aborts, faults and the end of the threads.

import { assertEquals, assertRejects } from "@std/assert";
import { CpuError, ThreadPool } from "../../../kernels/cpu/pool.ts";
import { i32, ModuleBuilder } from "../../../kernels/cpu/wasm/mod.ts";

/** A kernel that adds the first element of each item's array to the second; and one that fails. */
function testModule(): WebAssembly.Module {
  const module = new ModuleBuilder();
  const memory = module.importMemory("work");
  const parameters = { record: "i32", first: "i32", last: "i32" } as const;
  module.function("double", parameters, (f, { record, first, last }) => {
    const item = f.let(first);
    f.forUpTo(item, last, 1, () => {
      const at = i32.add(record, i32.mul(item, 4));
      f.do(memory.i32.store(at, i32.add(i32.mul(memory.i32.load(at), 2), 1)));
    });
  });
  module.function("fail", parameters, (f) => {
    f.let(memory.i32.load(-4));
  });
  return new WebAssembly.Module(module.bytes());
}

async function open(threads: number) {
  const work = new WebAssembly.Memory({ initial: 16, maximum: 65536, shared: true });
  const pool = await ThreadPool.open(threads);
  const kernels = pool.load({ module: testModule(), memories: { work } });
  return { pool, kernels, items: new Int32Array(work.buffer) };
}

Deno.test("all threads together compute every item of every phase once", async () => {
  for (const threads of [1, 2, 5]) {
    const { pool, kernels: { double }, items } = await open(threads);
    const operation = { kernel: double, record: 0, items: 1000 };
    const other = { kernel: double, record: 8000, items: 3, grain: 1 };
    for (let turn = 0; turn < 20; turn++) {
      items.fill(0);
      const step = [[operation, other], [operation], [], [other, operation]];
      assertEquals(turn % 2 === 0 ? pool.run(step) : await pool.submit(step), true);
      assertEquals(items.subarray(0, 1001), new Int32Array(1001).fill(7).fill(0, 1000));
      assertEquals([...items.subarray(2000, 2004)], [3, 3, 3, 0]);
      assertEquals(await pool.submit([]), true);
    }
    await pool.close();
  }
});

Deno.test("kernels may be loaded between steps", async () => {
  const { pool, kernels, items } = await open(2);
  pool.run([[{ kernel: kernels.double, record: 0, items: 4 }]]);
  const work = new WebAssembly.Memory({ initial: 16, maximum: 65536, shared: true });
  const more = pool.load({ module: testModule(), memories: { work } });
  pool.run([[{ kernel: more.double, record: 0, items: 2 }]]);
  assertEquals([...items.subarray(0, 5)], [1, 1, 1, 1, 0]);
  assertEquals([...new Int32Array(work.buffer, 0, 3)], [1, 1, 0]);
  await pool.close();
});

Deno.test("an aborted step leaves the rest out, and the next one is whole", async () => {
  const { pool, kernels: { double }, items } = await open(2);
  const long = { kernel: double, record: 0, items: 4000, grain: 1 };
  const step = Array.from({ length: 2000 }, () => [long]);
  const running = pool.submit(step);
  pool.abort();
  assertEquals(await running, false);
  items.fill(0);
  assertEquals(await pool.submit([[long]]), true);
  assertEquals(items.subarray(0, 4000), new Int32Array(4000).fill(1));
  await pool.close();
});

Deno.test("a kernel that fails fails its step, and no other", async () => {
  const { pool, kernels, items } = await open(2);
  const fails = { kernel: kernels.fail, record: 0, items: 2 };
  await assertRejects(() => pool.submit([[fails], [fails]]), CpuError, "a kernel failed");
  assertEquals(pool.run([[{ kernel: kernels.double, record: 0, items: 1 }]]), true);
  assertEquals(items[0], 1);
  await pool.close();
  await assertRejects(() => pool.submit([[fails]]), CpuError, "have ended");
});
