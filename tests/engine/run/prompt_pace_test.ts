// Prompts beside sequences that decode: as many of their rows in a step as the device computes in a
// moment. Steps and rows are counted; the clock is the test's.

import { assert, assertEquals } from "@std/assert";
import { PromptPace } from "../../../engine/run/planner.ts";
import { Scheduler } from "../../../engine/run/scheduler.ts";
import { FakeRunner } from "./fake_runner.ts";
import { add, promptOf, until } from "./scheduler_runs.ts";

Deno.test("a prompt is fed in pieces of a quarter of a second while another sequence decodes", async () => {
  for (const [rowMilliseconds, most] of [[10, 24], [1, 248], [0.01, 256], [100, 8]] as const) {
    let now = 0;
    const runner = new FakeRunner({ slots: 2, context: 4096, blocks: 256, chunkSize: 256 });
    const { submit } = runner;
    const fed: number[] = [];
    runner.submit = (plan, repeats) => {
      const { rows } = plan.shape;
      fed.push(rows);
      const read = submit.call(runner, plan, repeats);
      return () => {
        now += rows * repeats * rowMilliseconds;
        return read();
      };
    };
    const scheduler = new Scheduler(runner, {
      cacheBlocks: 256,
      chunkSize: 256,
      pace: new PromptPace(() => now),
    });
    const stream = add(scheduler, promptOf(300), 400, (count) => {
      if (count === 10) add(scheduler, promptOf(1500, 2), 4);
      return true;
    });
    await stream.ended;
    // Alone, the first prompt was fed as fast as can be.
    assertEquals(fed.slice(0, 2), [256, 44]);
    const beside = fed.slice(2).filter((rows) => rows > 2);
    const largest = Math.max(...beside);
    // The sequence that decodes has a row beside the chunk.
    assertEquals(largest, most + 1, `${rowMilliseconds} ms a row: ${beside}`);
    assert(beside.length <= 2 + 1500 / most, `${beside}`);
  }
});

Deno.test("before anything was measured, a prompt beside others is fed in small pieces", () => {
  let now = 0;
  const pace = new PromptPace(() => now);
  assertEquals([pace.rowsBeside(256), pace.rowsBeside(32)], [64, 32]);
  pace.begin();
  now += 10_000;
  pace.end(2); // Decoding tells nothing of prompts.
  assertEquals(pace.rowsBeside(256), 64);
  pace.begin();
  now += 100;
  pace.end(100);
  assertEquals(pace.rowsBeside(256), 248);
  now += 100_000; // Somebody else had the machine.
  pace.begin();
  now += 100;
  pace.end(100);
  assertEquals(pace.rowsBeside(256), 248);
});

Deno.test("texts to embed are fed in pieces of a quarter of a second while a sequence decodes", async () => {
  for (const [rowMilliseconds, most] of [[10, 24], [100, 8]] as const) {
    let now = 0;
    const runner = new FakeRunner({ slots: 4, context: 4096, blocks: 512, chunkSize: 256 });
    Object.assign(runner.limits, { outputs: 256 });
    const fed: [rows: number, isBeside: boolean][] = [];
    const { evaluate } = runner;
    let isBeside = false;
    runner.evaluate = (plan, output, isUnwanted) => {
      fed.push([plan.shape.rows, isBeside]);
      now += plan.shape.rows * rowMilliseconds;
      return evaluate.call(runner, plan, output, isUnwanted);
    };
    const scheduler = new Scheduler(runner, {
      cacheBlocks: 512,
      chunkSize: 256,
      pace: new PromptPace(() => now),
      evaluationPace: new PromptPace(() => now),
    });
    const texts = Array.from({ length: 4 }, (_, index) => promptOf(120, index));
    const branches = texts.map((tokens) => ({ tokens, wanted: "last" as const }));
    const embed = () => scheduler.evaluate({ branches, output: "hidden" });
    const alone = await embed();
    const stream = add(scheduler, promptOf(20), Infinity);
    await until(() => stream.tokens.length > 22);
    isBeside = true;
    assertEquals(await embed(), alone);
    const [before, beside] = [false, true].map((which) =>
      fed.filter(([, is]) => is === which).map(([rows]) => rows)
    );
    assert(Math.max(...before!) > 100, `${before}`);
    assert(Math.max(...beside!) <= most, `${rowMilliseconds} ms a row: ${beside}`);
    assert(beside!.length <= 6 + 4 * 120 / most, `${beside}`);
    await scheduler.close();
  }
});
