// What the operations of a CPU device share.

import { assert, assertEquals } from "@std/assert";
import type { Kernels } from "../../../kernels/cpu/calls.ts";
import { CpuCore } from "../../../kernels/cpu/core.ts";
import { MAXIMUM_OPERATIONS } from "../../../kernels/cpu/control.ts";
import { WORK } from "../../../kernels/cpu/instances.ts";
import { i32, ModuleBuilder } from "../../../kernels/cpu/wasm/mod.ts";
import { adder } from "./adder.ts";

Deno.test("kernels that come after the first step run on the threads, and those beside them", async () => {
  const core = new CpuCore();
  await core.startThreads(2);
  const items = core.kept("items", 4 * 100);
  const run = (kernels: Kernels) =>
    core.run([{ kernels, name: "add", arguments: [items.address, 1], items: 100 }]);
  const early = core.kernels("early", adder);
  run(early);
  const late = core.kernels("late", adder);
  core.together(() => {
    run(early);
    run(late);
  });
  assertEquals([Object.keys(early), Object.keys(late)], [["add"], ["add"]]);
  assertEquals([...items.words.subarray(0, 100)], new Array(100).fill(3));
  await core.close();
});

Deno.test("a module is made once for all devices, each of which works in its own memory", async () => {
  let made = 0;
  const build = () => {
    made++;
    return adder();
  };
  for (let device = 1; device <= 3; device++) {
    const core = new CpuCore();
    const items = core.kept("items", 4 * 10);
    for (let run = 0; run < device; run++) {
      const kernels = core.kernels("made once", build);
      core.run([{ kernels, name: "add", arguments: [items.address, 1], items: 10 }]);
    }
    assertEquals([...items.words.subarray(0, 10)], new Array(10).fill(device));
    await core.close();
  }
  assertEquals(made, 1);
});

/** A kernel that counts up to a million for each item, and then notes it. */
function slowCounter(): Uint8Array<ArrayBuffer> {
  const module = new ModuleBuilder();
  const memory = module.importMemory(WORK);
  const parameters = { record: "i32", first: "i32", last: "i32" } as const;
  module.function("count", parameters, (f, { record, first, last }) => {
    const items = f.let(memory.i32.load(record));
    const item = f.let(first);
    f.forUpTo(item, last, 1, () => {
      const turn = f.let(i32.const(0));
      f.forUpTo(turn, 1_000_000, 1, () => {});
      f.do(memory.i32.store(i32.add(items, i32.mul(item, 4)), 1));
    });
  });
  return module.bytes();
}

for (const threads of [1, 3]) {
  Deno.test(`the rest of a step that nobody wants is left out, on ${threads} threads`, async () => {
    const core = new CpuCore();
    if (threads > 1) await core.startThreads(threads);
    const [count, phases] = [100, 40];
    const items = core.kept("items", 4 * count * phases);
    const kernels = core.kernels("slow", slowCounter);
    const run = () =>
      core.together(() => {
        for (let phase = 0; phase < phases; phase++) {
          const address = items.address + 4 * count * phase;
          core.run([{ kernels, name: "count", arguments: [address], items: count }]);
        }
      });
    const done = () => items.words.subarray(0, count * phases).reduce((sum, word) => sum + word);
    core.unless(() => done() > 0, run);
    assert(done() > 0 && done() < count * phases / 2, `${done()} items`);
    core.unless(() => true, run);
    const before = done();
    items.words.fill(0);
    core.unless(() => true, run);
    assertEquals([done(), before < count * phases], [0, true]);
    // The next one is whole again.
    core.unless(
      () => false,
      () =>
        core.together(() =>
          core.run([{ kernels, name: "count", arguments: [items.address], items: count }])
        ),
    );
    assertEquals(done(), count);
    await core.close();
  });
}

Deno.test("more kernels wait for each other than threads take in one go", async () => {
  const core = new CpuCore();
  await core.startThreads(2);
  const kernels = core.kernels("many", adder);
  const count = MAXIMUM_OPERATIONS + 100;
  const items = core.kept("items", 4);
  const call = { kernels, name: "add", arguments: [items.address, 1], items: 1 };
  core.together(() => {
    core.run(new Array(3).fill({ ...call, items: 0 }));
    core.run(new Array(count).fill({ ...call, items: 0 }));
    core.run([call]);
    core.run([call]);
  });
  assertEquals(items.words[0], 2);
  await core.close();
});

Deno.test("a call for which the step has no room keeps its arguments, however many come after it", async () => {
  const core = new CpuCore();
  const kernels = core.kernels("full", adder);
  const [items, others] = [core.kept("items", 4), core.kept("others", 4)];
  const fill = (words: number) => {
    const given = new Array(words).fill(others.address);
    const idle = { kernels, name: "add", arguments: given, items: 0 };
    while (core.pool.hasRoom) core.run([idle]);
  };
  core.together(() => {
    fill(1);
    core.run([{ kernels, name: "add", arguments: [items.address, 1], items: 1 }]);
    fill(2); // more words than there were before
  });
  assertEquals([items.words[0], others.words[0]], [1, 0]);
  await core.close();
});
