// Work that many ask for at once, and waits that end early.

import { assertEquals, assertRejects } from "@std/assert";
import { SharedRuns, untilAborted } from "../../engine/async.ts";
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
