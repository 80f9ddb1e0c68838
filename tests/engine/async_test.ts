// Work that many ask for at once, and waits that end early.

import { assertEquals, assertRejects } from "@std/assert";
import { inSlices, nextTask, SharedRuns, untilAborted } from "../../engine/async.ts";
import { unheardDuring } from "../unheard.ts";

Deno.test("who asks while a run is under way shares the next one with all who do", async () => {
  const shared = new SharedRuns<number>();
  let begun = 0;
  const gates = Array.from({ length: 4 }, () => Promise.withResolvers<void>());
  const ask = () =>
    shared.run("a", async () => {
      const run = begun++;
      await gates[run]!.promise;
      return run;
    });
  const first = ask();
  const second = [ask(), ask(), ask()];
  assertEquals(begun, 1);
  gates[0]!.resolve();
  assertEquals(await first, 0);
  await new Promise((resolve) => setTimeout(resolve));
  assertEquals(begun, 2); // What it gives may be older than the next question.
  const third = ask();
  gates[1]!.resolve();
  assertEquals(await Promise.all(second), [1, 1, 1]);
  gates[2]!.resolve();
  assertEquals(await third, 2);
  gates[3]!.resolve();
  assertEquals(await ask(), 3);
});

Deno.test("a run that fails fails for those who share it, and for nobody else", async () => {
  const shared = new SharedRuns<number>();
  let begun = 0;
  const ask = () => shared.run("a", () => ++begun < 3 ? Promise.reject(begun) : Promise.resolve(3));
  const all = await Promise.allSettled([ask(), ask(), ask()]);
  assertEquals(all.map((result) => result.status === "rejected" && result.reason), [1, 2, 2]);
  assertEquals(await ask(), 3);
  await assertRejects(() => shared.run("b", () => Promise.reject(new Error("other"))));
});

Deno.test("untilAborted() gives an aborted signal's reason, and hears what fails after that", async () => {
  const signal = AbortSignal.abort(new Error("gone"));
  assertEquals(await untilAborted(Promise.resolve(1), undefined), 1);
  await assertRejects(() => untilAborted(Promise.resolve(1), signal), Error, "gone");
  const unheard = await unheardDuring(async () => {
    const failing = Promise.withResolvers<never>();
    await assertRejects(() => untilAborted(failing.promise, signal), Error, "gone");
    failing.reject(new Error("late"));
  });
  assertEquals(unheard, []);
});

Deno.test("of many works in slices, one goes on in each turn of the event loop", async () => {
  let slices = 0;
  function* work(): Generator<void, void> {
    for (let slice = 0; slice < 5; slice++) {
      slices++;
      const end = performance.now() + 9; // longer than a slice
      while (performance.now() < end);
      yield;
    }
  }
  const works = Array.from({ length: 8 }, () => inSlices(work()));
  let most = 0;
  let ended = false;
  const all = Promise.all(works).then(() => ended = true);
  for (let before = slices; !ended; before = slices) {
    await nextTask();
    most = Math.max(most, slices - before);
  }
  await all;
  assertEquals([slices, most], [40, 1]);
});
