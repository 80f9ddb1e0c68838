// Captured steps that the pool keeps as a whole.

import { assertEquals } from "@std/assert";
import { CpuCore } from "../../../kernels/cpu/core.ts";
import { keepCall } from "../../../kernels/cpu/kept_calls.ts";
import { repeated } from "../../../kernels/cpu/repeated_step.ts";
import { adder } from "./adder.ts";

/** A core, an operation of it on some items, and how many operations its pool was given. */
function setUp() {
  const core = new CpuCore();
  const kernels = core.kernels("adder", adder);
  const items = core.kept("items", 4 * 10);
  const call = (count: number, number = 1) => ({
    ...{ kernels, name: "add", arguments: [items.address, number], items: count },
  });
  const pool = core.pool;
  const add = pool.add.bind(pool);
  let added = 0;
  pool.add = (operation) => {
    added++;
    add(operation);
  };
  const taken = () => {
    const sums = [...items.words.subarray(0, 10)];
    items.words.fill(0);
    const seen = { added, sums };
    added = 0;
    return seen;
  };
  return { core, call, taken };
}

for (const threads of [1, 3]) {
  Deno.test(`a step is built once, and is there after what was in its place, on ${threads} threads`, async () => {
    const { core, call, taken } = setUp();
    if (threads > 1) await core.startThreads(threads);
    const [some, one] = [10, 1].map((items) =>
      keepCall(core, (count) => ({ ...call(count), items }))
    );
    const step = repeated(core, [() => some(10), () => one(1), () => some(10)]);
    const run = () => core.together(step);
    const sums = [3, ...new Array(9).fill(2)];
    const [built, repeats] = [{ added: 3, sums }, { added: 0, sums }];
    for (const expected of [built, repeats, repeats]) {
      run();
      assertEquals(taken(), expected);
    }
    // Behind it there is room for others.
    core.together(() => {
      step();
      core.run([call(10)]);
    });
    assertEquals(taken(), { added: 1, sums: sums.map((sum) => sum + 1) });
    const others = [
      ...[1, 4].map((count) => () => core.run(new Array(count).fill(call(0)))),
      () => [0, 5, 5].forEach((count) => some(count)), // Other arguments of its own calls.
      () => core.together(repeated(core, [() => some(0), () => one(0)])),
    ];
    for (const other of others) {
      other();
      taken();
      run();
      assertEquals(taken(), repeats);
    }
    const changes = [
      () => core.temporary(1 << 20),
      // What threads own depends on their number.
      ...threads === 1 ? [() => core.startThreads(2)] : [],
    ];
    for (const change of changes) {
      await change();
      run();
      assertEquals(taken(), built);
      run();
      assertEquals(taken(), repeats);
    }
    core.unless(() => true, run);
    assertEquals(taken(), { added: 0, sums: new Array(10).fill(0) });
    run();
    assertEquals(taken(), repeats);
    await core.close();
  });
}

Deno.test("a step whose arguments were written over by those of others is built anew", async () => {
  const { core, call, taken } = setUp();
  const one = keepCall(core, (number) => call(1, number));
  const step = repeated(core, [() => one(1)]);
  core.together(step);
  const before = core.work.taken;
  for (let round = 0; round < 3; round++) {
    const others = new Array(5000).fill(() => one(0));
    for (let i = 0; i < 30; i++) core.together(repeated(core, others));
    taken();
    core.together(step);
    assertEquals(taken().sums[0], 1);
  }
  assertEquals(core.work.taken, before);
  await core.close();
});

Deno.test("the host does its part of a step each time, and has it built anew where its kernels change", async () => {
  const { core, call, taken } = setUp();
  let [count, works] = [4, 0];
  const some = keepCall(core, (count) => call(count));
  const step = repeated(core, [
    () => core.byHost(() => works++),
    () => {
      const before = count;
      core.note(() => count === before);
      some(count);
    },
  ]);
  const run = () => {
    core.together(step);
    const { added, sums } = taken();
    return [works, added, sums.filter((sum) => sum === 1).length];
  };
  assertEquals([run(), run(), run()], [[1, 1, 4], [2, 0, 4], [3, 0, 4]]);
  count = 5;
  assertEquals(run().slice(1), [1, 5]);
  assertEquals(run().slice(1), [0, 5]);
  await core.close();
});

Deno.test("calls of a repeated step that wait have their arguments, whatever comes after", async () => {
  const { core, call, taken } = setUp();
  const some = keepCall(core, (number) => call(10, number));
  const step = repeated(core, [() => some(1)]);
  for (let i = 0; i < 2; i++) core.together(step);
  taken();
  core.together(() => {
    step();
    some(100);
    some(100); // Its arguments have the place of those before.
  });
  assertEquals(taken().sums, new Array(10).fill(201));
  await core.close();
});
