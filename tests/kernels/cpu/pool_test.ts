// Threads that share steps: every item is computed once, phases are in order, whatever the number of
// threads; aborts, faults and the end of the threads.

import { assertEquals, assertThrows } from "@std/assert";
import { CpuError, ThreadPool } from "../../../kernels/cpu/pool.ts";
import {
  refuseCpuThread,
  startCpuThread,
  startCpuThreadsBy,
} from "../../../kernels/cpu/threads.ts";
import { ResourceError } from "../../../kernels/errors.ts";
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

/** What the pool is to run. */
type Operation = Readonly<Parameters<ThreadPool["add"]>>;

function run(
  pool: ThreadPool,
  step: readonly (readonly Operation[])[],
  isUnwanted?: () => boolean,
): boolean {
  for (const phase of step) {
    for (const operation of phase) pool.add(...operation);
    pool.endPhase();
  }
  return pool.run(isUnwanted);
}

Deno.test("all threads together compute every item of every phase once", async () => {
  for (
    const [threads, isBrief] of [[1, false], [1, true], [2, false], [2, true], [5, true]] as const
  ) {
    const { pool, kernels: { double }, items } = await open(threads);
    assertEquals(pool.threads, threads);
    const operation: Operation = [double!, 0, 1000, undefined, undefined, isBrief];
    const other: Operation = [double!, 8000, 3, 1, undefined, isBrief];
    for (let turn = 0; turn < 20; turn++) {
      items.fill(0);
      const step = [[operation, other], [operation], [], [other, operation]];
      assertEquals(run(pool, step, turn % 2 === 0 ? undefined : () => false), true);
      assertEquals(items.subarray(0, 1001), new Int32Array(1001).fill(7).fill(0, 1000));
      assertEquals([...items.subarray(2000, 2004)], [3, 3, 3, 0]);
      assertEquals(run(pool, []), true);
    }
    await pool.close();
  }
});

Deno.test("a kernel that follows another sees what that made of the same items", async () => {
  for (const [threads, isBrief] of [[1, false], [3, false], [3, true]] as const) {
    const { pool, kernels: { double }, items } = await open(threads);
    pool.add(double!, 0, 1000, undefined, { kernel: double!, record: 0 }, isBrief);
    pool.add(double!, 8000, 5, 1, { kernel: double!, record: 12_000 });
    assertEquals(pool.run(), true);
    assertEquals(items.subarray(0, 1001), new Int32Array(1001).fill(3).fill(0, 1000));
    assertEquals([...items.subarray(2000, 2006)], [1, 1, 1, 1, 1, 0]);
    assertEquals([...items.subarray(3000, 3006)], [1, 1, 1, 1, 1, 0]);
    await pool.close();
  }
});

Deno.test("kernels may be loaded between steps", async () => {
  const { pool, kernels, items } = await open(2);
  run(pool, [[[kernels.double!, 0, 4]]]);
  const work = new WebAssembly.Memory({ initial: 16, maximum: 65536, shared: true });
  const more = pool.load({ module: testModule(), memories: { work } });
  run(pool, [[[more.double!, 0, 2]]]);
  assertEquals([...items.subarray(0, 5)], [1, 1, 1, 1, 0]);
  assertEquals([...new Int32Array(work.buffer, 0, 3)], [1, 1, 0]);
  await pool.close();
});

Deno.test("threads that start after the first step have the kernels that were loaded before", async () => {
  const pool = new ThreadPool();
  const work = new WebAssembly.Memory({ initial: 16, maximum: 65536, shared: true });
  const { double } = pool.load({ module: testModule(), memories: { work } });
  const items = new Int32Array(work.buffer);
  run(pool, [[[double!, 0, 1000]]]);
  await pool.start(3);
  run(pool, [[[double!, 0, 1000]], [[double!, 0, 1000]]]);
  assertEquals(items.subarray(0, 1001), new Int32Array(1001).fill(7).fill(0, 1000));
  await pool.close();
});

Deno.test("a pool has as many threads as the system gives, whichever way it says so", async () => {
  const refusal = new ResourceError("no more threads");
  const refusedByPort = () => {
    const { port1, port2 } = new MessageChannel();
    refuseCpuThread(port2, refusal);
    return port1;
  };
  const refusedAtOnce = () => {
    throw refusal;
  };
  for (const refuse of [refusedByPort, refusedAtOnce]) {
    for (const given of [[], [1], [0, 2]]) {
      let asked = 0;
      startCpuThreadsBy(() => given.includes(asked++) ? startCpuThread() : refuse());
      try {
        const { pool, kernels: { double }, items } = await open(4);
        // The first refusal at once is the last attempt.
        const threads = refuse === refusedByPort
          ? given.length
          : given.filter((place, index) => place === index).length;
        assertEquals(pool.threads, threads + 1);
        const operation: Operation = [double!, 0, 1000];
        for (let turn = 0; turn < 20; turn++) {
          items.fill(0);
          assertEquals(run(pool, [[operation], [operation], [operation]]), true);
          assertEquals(items.subarray(0, 1001), new Int32Array(1001).fill(7).fill(0, 1000));
        }
        await pool.close();
      } finally {
        startCpuThreadsBy(startCpuThread);
      }
    }
  }
});

Deno.test("a pool that is closed while its threads start ends them", async () => {
  const pool = new ThreadPool();
  const starting = pool.start(3);
  await pool.close();
  await starting;
  assertThrows(() => run(pool, [[]]), CpuError, "have ended");
});

for (const threads of [1, 2]) {
  Deno.test(`an aborted step leaves the rest out, and the next one is whole, on ${threads} threads`, async () => {
    const { pool, kernels: { double }, items } = await open(threads);
    const long: Operation = [double!, 0, 4000, 1];
    const step = Array.from({ length: 2000 }, () => [long]);
    let asked = 0;
    assertEquals(run(pool, step, () => asked++ > 0), false);
    assertEquals(run(pool, step, () => true), false);
    items.fill(0);
    assertEquals(run(pool, [[long]], () => false), true);
    assertEquals(items.subarray(0, 4000), new Int32Array(4000).fill(1));
    await pool.close();
  });
}

Deno.test("a kernel that fails fails its step, and no other", async () => {
  for (const threads of [1, 2]) {
    const { pool, kernels, items } = await open(threads);
    const fails: Operation = [kernels.fail!, 0, 2];
    assertThrows(() => run(pool, [[fails], [fails]]), CpuError, "a kernel failed");
    items.fill(0);
    assertEquals(run(pool, [[[kernels.double!, 0, 1]]]), true);
    assertEquals(items[0], 1);
    await pool.close();
    assertThrows(() => run(pool, [[fails]]), CpuError, "have ended");
  }
});
