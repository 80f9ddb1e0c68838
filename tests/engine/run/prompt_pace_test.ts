// Prompts beside sequences that decode: as many of their rows in a step that nobody waits for long. Steps
// and rows are counted; the clock is the test's, and so is the speed of the device.

import { assert, assertEquals } from "@std/assert";
import type { StepPlan } from "../../../engine/run/step_plan.ts";
import { PromptPace } from "../../../engine/run/prompt_pace.ts";
import { Scheduler } from "../../../engine/run/scheduler.ts";
import type { SequenceStep } from "../../../engine/run/sequence.ts";
import { FakeRunner } from "./fake_runner.ts";
import { add, promptOf, until } from "./scheduler_runs.ts";

/** Most milliseconds between two tokens. */
const BOUND = 150;

/** Milliseconds of a step: the first row, each further one, and each for a thousand positions before it. */
interface Speed {
  readonly first: number;
  readonly row: number;
  readonly thousand: number;
}

/** Devices and models: 1B on two cores, 135M there, one whose first row costs no more than others, and a GPU. */
const SPEEDS: Record<string, Speed> = {
  "1b": { first: 35, row: 8, thousand: 0.6 },
  "135m": { first: 6, row: 1.2, thousand: 0.35 },
  "rows alone": { first: 1, row: 1, thousand: 0 },
  gpu: { first: 9, row: 0.08, thousand: 0.01 },
};

/** A runner whose steps take as long as a device's, by a clock of its own. */
class TimedRunner extends FakeRunner {
  now = 0;
  /** Rows of each step. */
  readonly fed: number[] = [];

  constructor(readonly speed: Speed, slots = 4) {
    super({ slots, context: 8192, blocks: 1024, chunkSize: 256 });
    Object.assign(this.limits, { outputs: 256 });
  }

  override submit(plan: StepPlan, repeats: number) {
    this.#pass(plan, repeats);
    return super.submit(plan, repeats);
  }

  override evaluate(...given: Parameters<FakeRunner["evaluate"]>): Promise<Float32Array> {
    this.#pass(given[0], 1);
    return super.evaluate(...given);
  }

  #pass({ shape: { rows, prefillContext } }: StepPlan, repeats: number): void {
    const { first, row, thousand } = this.speed;
    this.fed.push(rows);
    this.now += repeats * (first + (rows - 1) * (row + thousand * prefillContext / 1000));
  }
}

function schedulerOf(runner: TimedRunner): Scheduler {
  return new Scheduler(runner, { cacheBlocks: 1024, chunkSize: 256, clock: () => runner.now });
}

for (const [name, speed] of Object.entries(SPEEDS)) {
  Deno.test(`no token comes late beside a long prompt: ${name}`, async () => {
    const runner = new TimedRunner(speed);
    const scheduler = schedulerOf(runner);
    /** When the long prompts began, and when the last of them was read. */
    let [began, ended, isReading] = [0, 0, false];
    const times: number[] = [];
    const stream = add(scheduler, promptOf(300), Infinity, (count) => {
      if (isReading) times.push(runner.now);
      if (count === 10) addLong();
      return !isReading || ended === 0;
    });
    const addLong = () => {
      [began, isReading] = [runner.now, true];
      add(scheduler, promptOf(4000, 2), 4, () => {
        // What was read before is known; the next one begins where a row takes longer.
        add(scheduler, [...promptOf(4000, 2), ...promptOf(600, 3)], 2, () => {
          ended = runner.now;
          return false;
        });
        return false;
      });
    };
    await stream.ended;
    // Alone, the first prompt was fed as fast as can be.
    assertEquals(runner.fed.slice(0, 2), [256, 44]);
    const gaps = times.slice(1).map((time, i) => time - times[i]!);
    assert(Math.max(...gaps) <= BOUND, `${Math.max(...gaps)} ms, rows ${runner.fed}`);
    // Half of the time alone, at least, where the device leaves time for it.
    const { first, row, thousand } = speed;
    const alone = 4600 * (row + 2 * thousand) + 4600 / 256 * first;
    assert(ended - began < 2 * alone + 600, `${ended - began} ms, alone ${alone}`);
  });
}

Deno.test("what holds the thread up beside answers is made up for in the next step", async () => {
  // As on the CPU.
  const runner = Object.assign(new TimedRunner(SPEEDS["135m"]!), { submitsBlock: true });
  const scheduler = schedulerOf(runner);
  const times: number[] = [];
  let prompts = 0;
  let [steps, tokens, ended] = [Infinity, Infinity, false];
  const stream = add(scheduler, promptOf(20), Infinity, (count) => {
    times.push(runner.now);
    const addPrompt = () => add(scheduler, promptOf(2000, 2 + prompts++), 1, () => ended = true);
    if (count === 20) addPrompt();
    if (prompts === 1 && runner.fed.slice(-2).every((rows) => rows > 60)) {
      addPrompt();
      [steps, tokens] = [runner.fed.length, times.length];
      runner.now += 90; // It was long to encode.
    }
    return !ended;
  });
  assertEquals(await stream.ended, "stop");
  const gaps = times.slice(tokens).map((time, i) => time - times[tokens + i - 1]!);
  assert(gaps[0]! > 100 && Math.max(...gaps) <= BOUND, `${gaps}`);
  // One step is shorter, and reads on all the same.
  const [first, ...others] = runner.fed.slice(steps, steps + 6);
  assert(first! > 5 && first! < 50 && Math.min(...others) > 60, `${first}, ${others}`);
  await scheduler.close();
});

Deno.test("steps are told one after the other, whether a device computes while it is submitted to or read", async () => {
  /** A runner of which every second submit computes at once, and the others as they are read. */
  class UnevenRunner extends TimedRunner {
    #count = 0;

    override submit(plan: StepPlan, repeats: number) {
      const isAtOnce = this.#count++ % 2 === 0;
      const before = this.now;
      const read = super.submit(plan, repeats);
      const cost = this.now - before;
      if (isAtOnce) return read;
      this.now = before;
      return async () => {
        const sampled = await read();
        this.now += cost;
        return sampled;
      };
    }
  }
  const runner = new UnevenRunner(SPEEDS["135m"]!);
  const steps: SequenceStep[] = [];
  const stepped = (step: SequenceStep) => void steps.push(step);
  const { ended } = add(schedulerOf(runner), promptOf(300), 200, undefined, undefined, { stepped });
  assertEquals(await ended, "length");
  assert(steps.length > 10, `${steps.length}`);
  steps.reduce((before, { began, ended }) => {
    assert(began >= before && ended >= began, `${began} to ${ended} after ${before}`);
    return ended;
  }, 0);
});

Deno.test("drafts of answers leave a prompt its part of the rows", async () => {
  const runner = new TimedRunner(SPEEDS["1b"]!);
  // A text that goes around, so that all is drafted, and right.
  runner.follow = (tokens) => (tokens[tokens.length - 40] ?? 1) % 256;
  const scheduler = schedulerOf(runner);
  const times: number[] = [];
  const stream = add(scheduler, promptOf(100), Infinity, () => times.push(runner.now) > 0);
  await until(() => stream.tokens.length > 200);
  const [steps, began] = [runner.fed.length, runner.now];
  assert(runner.fed.slice(-20).some((rows) => rows > 8), `no drafts: ${runner.fed}`);
  const late = add(scheduler, promptOf(400, 2), 1);
  assertEquals(await late.ended, "length");
  // A draft that was under way may be longer: it comes at once.
  const beside = times.filter((time) => time > began + BOUND);
  const gaps = beside.slice(1).map((time, i) => time - beside[i]!);
  assert(Math.max(...gaps) <= BOUND, `${gaps}`);
  // At least a third of 115 tokens a second.
  assert(runner.now - began < 12_000, `${runner.now - began} ms, ${runner.fed.slice(steps)}`);
  await scheduler.close();
});

Deno.test("a device that decodes too slowly for the bound still reads prompts", async () => {
  const runner = new TimedRunner({ first: 300, row: 90, thousand: 0 });
  const scheduler = schedulerOf(runner);
  const stream = add(scheduler, promptOf(20), Infinity);
  await until(() => stream.tokens.length > 10);
  const before = runner.fed.length;
  const late = add(scheduler, promptOf(200, 2), 1);
  assertEquals(await late.ended, "length");
  assertEquals(Math.max(...runner.fed.slice(before)), 5);
  await scheduler.close();
});

Deno.test("steps beside others begin with few rows, and grow as the clock allows", () => {
  const pace = new PromptPace(100);
  const LONG = { rows: 512, context: 0 };
  const rowsAfter = (context: number) => pace.rowsBeside({ ...LONG, context });
  const step = (rows: number, milliseconds: number, context = 0) =>
    pace.measured({ rows, context }, milliseconds);
  assertEquals([rowsAfter(0), pace.rowsBeside({ rows: 3, context: 0 })], [4, 3]);
  step(0, 20); // Of the 100 milliseconds 80 are left.
  assertEquals(rowsAfter(0), 4);
  // 0.5 a row, but four rows tell little about 160; and 16 not that 64 take no more than 100 in all.
  for (const rows of [4, 16, 57, 117, 149, 157, 159]) {
    assertEquals(rowsAfter(0), rows);
    step(rows, 20 + 0.5 * rows);
  }
  assertEquals(rowsAfter(0), 160);
  step(160, 100);
  assertEquals(rowsAfter(0), 160);
  // Others have waited for 60 of 140 milliseconds; and for so long that it does not matter any more.
  assertEquals([30, 60, 500].map((waited) => pace.rowsBeside(LONG, waited)), [160, 120, 4]);
  // Far into a context a row may take as many times longer; near its beginning it is not known.
  assertEquals(rowsAfter(3 * 1024), 40);
  step(160, 260, 1024); // 1.5 a row, and 1 was expected there
  assertEquals([rowsAfter(1024), rowsAfter(0)], [64, 64]);
  step(1, 1000, 1024); // One row beside others tells nothing.
  assertEquals(rowsAfter(1024), 64);
});

Deno.test("where the time of rows is a staircase, steps seldom go beyond the stair that fits", () => {
  // A 1B on two cores beside two answers: kernels for 8, 12 and 16 rows.
  const timeOf = (rows: number) =>
    [90, 90, 147, 164, 200, 230][Math.ceil((rows + 2) / 4) - 1] ?? 300;
  const pace = new PromptPace(100);
  for (let i = 0; i < 10; i++) pace.measured({ rows: 0, context: 0 }, 78);
  const steps = Array.from({ length: 200 }, (_, index) => {
    const rows = pace.rowsBeside({ rows: 512, context: 0 });
    const heldUp = index % 20 === 19 ? 50 : 0; // by other programs
    pace.measured({ rows, context: 0 }, timeOf(rows) + heldUp);
    return rows;
  });
  const beyond = steps.filter((rows) => rows > 6);
  assert(Math.max(...steps) <= 8 && beyond.length < 20, `${steps}`);
  // Most are as large as fits.
  const fitting = steps.filter((rows) => rows === 6);
  assert(fitting.length > 100, `${steps}`);
});

Deno.test("texts to embed are fed in small steps while a sequence decodes", async () => {
  for (const [name, most] of [["1b", 4], ["135m", 28]] as const) {
    const runner = new TimedRunner(SPEEDS[name]!);
    const scheduler = schedulerOf(runner);
    const texts = Array.from({ length: 4 }, (_, index) => promptOf(120, index));
    const branches = texts.map((tokens) => ({ tokens, wanted: "last" as const }));
    const embed = () => scheduler.evaluate({ branches, output: "hidden" });
    const alone = await embed();
    assert(Math.max(...runner.fed) > 100, `${runner.fed}`);
    const times: number[] = [];
    const take = () => times.push(runner.now) > 0;
    const stream = add(scheduler, promptOf(20), Infinity, take);
    await until(() => stream.tokens.length > 22);
    const [steps, tokens] = [runner.fed.length, times.length];
    assertEquals(await embed(), alone);
    const beside = runner.fed.slice(steps).filter((rows) => rows > 1);
    assert(Math.max(...beside) <= most, `${name}: ${beside}`);
    const gaps = times.slice(tokens).map((time, i) => time - times[tokens + i - 1]!);
    assert(Math.max(...gaps) <= BOUND, `${Math.max(...gaps)} ms`);
    await scheduler.close();
  }
});
