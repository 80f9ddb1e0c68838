// Threads that share steps: every item is computed once, phases are in order, whatever the number of
// threads; aborts, faults and the end of the threads.

import { assert, assertEquals, assertThrows } from "@std/assert";
import { CpuError, type PhaseTimes, ThreadPool } from "../../../kernels/cpu/pool.ts";
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
type Operation = Parameters<ThreadPool["add"]>[0];

function run(
  pool: ThreadPool,
  step: readonly (readonly Operation[])[],
  isUnwanted?: () => boolean,
): boolean {
  for (const phase of step) {
    for (const operation of phase) pool.add(operation);
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
    const operation: Operation = { kernel: double!, record: 0, items: 1000, isBrief };
    const other: Operation = { kernel: double!, record: 8000, items: 3, most: 1, isBrief };
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
    const then = { kernel: double!, record: 0 };
    pool.add({ kernel: double!, record: 0, items: 1000, then, isBrief });
    pool.add({
      kernel: double!,
      record: 8000,
      items: 5,
      most: 1,
      then: { kernel: double!, record: 12_000 },
    });
    assertEquals(pool.run(), true);
    assertEquals(items.subarray(0, 1001), new Int32Array(1001).fill(3).fill(0, 1000));
    assertEquals([...items.subarray(2000, 2006)], [1, 1, 1, 1, 1, 0]);
    assertEquals([...items.subarray(3000, 3006)], [1, 1, 1, 1, 1, 0]);
    await pool.close();
  }
});

Deno.test("phases of one item come after what is before them, and before what is after", async () => {
  for (const threads of [1, 2, 5]) {
    const { pool, kernels: { double }, items } = await open(threads);
    const one: Operation = { kernel: double!, record: 0, items: 1 };
    const many: Operation = { ...one, items: 200, most: 1 };
    for (let turn = 0; turn < 50; turn++) {
      items.fill(0);
      // The first, several in a row, one with a kernel that follows, and the last.
      const step = [[one], [many], [one], [{ ...one, then: one }], [one], [many], [one]];
      assertEquals(run(pool, step), true);
      assertEquals([...items.subarray(0, 3), items[200]], [255, 3, 3, 0]);
    }
    await pool.close();
  }
});

Deno.test("a chain has as many items of each kernel as it says, of any multiple", async () => {
  for (const threads of [1, 2, 3]) {
    for (const multiple of [1, 3, 4]) {
      const { pool, kernels: { double }, items } = await open(threads);
      for (const count of [1, 5, 24, 100]) {
        items.fill(0);
        const then = { kernel: double!, record: 8000, then: { kernel: double!, record: 16_000 } };
        const operation = { kernel: double!, record: 0, per: 4, items: count, then };
        assertEquals(run(pool, [[{ ...operation, multiple, isBrief: true }]]), true);
        assertEquals(items.subarray(0, 401), new Int32Array(401).fill(1, 0, 4 * count));
        for (const first of [2000, 4000]) {
          const expected = new Int32Array(101).fill(1, 0, count);
          assertEquals(items.subarray(first, first + 101), expected);
        }
      }
      await pool.close();
    }
  }
});

Deno.test("the times of a step's phases add up to the step", async () => {
  const { pool, kernels: { double } } = await open(2);
  const told: PhaseTimes[][] = [];
  pool.timePhases((phases) => told.push([...phases]));
  const many: Operation = { kernel: double!, record: 0, items: 50_000 };
  const one: Operation = {
    kernel: double!,
    record: 0,
    items: 1,
    then: { kernel: double!, record: 0 },
  };
  run(pool, [[many], [one], [many, many]]);
  const started = performance.now();
  run(pool, [[many], [one], [many, many]]);
  const whole = 1000 * (performance.now() - started);
  pool.timePhases(undefined);
  run(pool, [[many]]);
  assertEquals(told.length, 2);
  const [, phases] = told;
  assertEquals(
    phases!.map(({ kernels, items }) => [kernels.join(" "), items]),
    [["double", 50_000], ["double double", 1], ["double double", 100_000]],
  );
  assertEquals(phases![1]!.whole, 0, "it belongs to the phase before");
  for (const { all, longest } of phases!) assert(0 < longest && longest <= all);
  const sum = phases!.reduce((sum, phase) => sum + phase.whole, 0);
  assert(sum >= phases![0]!.longest + phases![1]!.longest && sum <= whole, `${sum} of ${whole}`);
  await pool.close();
});

Deno.test("kernels may be loaded between steps", async () => {
  const { pool, kernels, items } = await open(2);
  run(pool, [[{ kernel: kernels.double!, record: 0, items: 4 }]]);
  const work = new WebAssembly.Memory({ initial: 16, maximum: 65536, shared: true });
  const more = pool.load({ module: testModule(), memories: { work } });
  run(pool, [[{ kernel: more.double!, record: 0, items: 2 }]]);
  assertEquals([...items.subarray(0, 5)], [1, 1, 1, 1, 0]);
  assertEquals([...new Int32Array(work.buffer, 0, 3)], [1, 1, 0]);
  await pool.close();
});

Deno.test("threads that start after the first step have the kernels that were loaded before", async () => {
  const pool = new ThreadPool();
  const work = new WebAssembly.Memory({ initial: 16, maximum: 65536, shared: true });
  const { double } = pool.load({ module: testModule(), memories: { work } });
  const items = new Int32Array(work.buffer);
  const operation: Operation = { kernel: double!, record: 0, items: 1000 };
  run(pool, [[operation]]);
  await pool.start(3);
  run(pool, [[operation], [operation]]);
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
        const operation: Operation = { kernel: double!, record: 0, items: 1000 };
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
    const long: Operation = { kernel: double!, record: 0, items: 4000, most: 1 };
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
    const fails: Operation = { kernel: kernels.fail!, record: 0, items: 2 };
    assertThrows(() => run(pool, [[fails], [fails]]), CpuError, "a kernel failed");
    // The phases of one item after it, which one thread does, are skipped by all of them.
    const one: Operation = { kernel: kernels.double!, record: 0, items: 1 };
    const some: Operation = { ...one, items: 100 };
    for (let turn = 0; turn < 50; turn++) {
      const step = [[fails], [one], [one], [some], [one], [some]];
      assertThrows(() => run(pool, step), CpuError, "a kernel failed");
    }
    items.fill(0);
    assertEquals(run(pool, [[one]]), true);
    assertEquals(items[0], 1);
    await pool.close();
    assertThrows(() => run(pool, [[fails]]), CpuError, "have ended");
  }
});
