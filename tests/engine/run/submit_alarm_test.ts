// When the host plans what follows a submit, where reading blocks its thread: shortly before the device is
// done, so that requests of the meantime take part. The device takes its time by a clock of the test.

import { assert, assertEquals } from "@std/assert";
import { Scheduler } from "../../../engine/run/scheduler.ts";
import { SubmitAlarm } from "../../../engine/run/submit_alarm.ts";
import { FakeRunner } from "./fake_runner.ts";
import { add, promptOf, type Run } from "./scheduler_runs.ts";

/** A submit; times are in milliseconds. */
interface Submit {
  readonly rows: number;
  /** How long the device takes for it. */
  readonly milliseconds: number;
  /** When the host began to plan it, and when the device got it. */
  readonly planned: number;
  began: number;
}

/** A device whose reads block, with the host's clock. */
class SlowDevice {
  now = 1000;
  /** Milliseconds of a step, and of the host for recording a submit. */
  step = 12;
  recording = 1;
  readonly runner = new FakeRunner({ slots: 4, context: 4096, blocks: 512, chunkSize: 64 });
  readonly submits: Submit[] = [];
  /** The times at which the host began to sleep. */
  readonly sleeps: number[] = [];
  /** Milliseconds by which a timer is late. */
  late: (timer: number) => number = () => 0;
  /** Called in the middle of each sleep. */
  onSleep: (timer: number) => void = () => {};
  readonly scheduler: Scheduler;
  #read = 0;

  constructor() {
    const { runner } = this;
    runner.readsBlock = true;
    const { submit } = runner;
    runner.submit = (plan, repeats) => {
      const { now: planned, submits, step } = this;
      this.now += this.recording;
      const { length: at } = submits;
      const isIdle = this.#read === at;
      const { rows } = plan.shape;
      submits.push({ rows, planned, milliseconds: step * repeats, began: isIdle ? this.now : NaN });
      const read = submit.call(runner, plan, repeats);
      return () => {
        const { began, milliseconds } = submits[at]!;
        this.now = Math.max(this.now, began + milliseconds);
        this.#read++;
        // What was held back goes out with the read.
        if (submits[at + 1]) submits[at + 1]!.began = this.now;
        return read();
      };
    };
    const sleep = (milliseconds: number) => {
      const timer = this.sleeps.push(this.now);
      this.now += milliseconds / 2;
      this.onSleep(timer);
      this.now += milliseconds / 2 + this.late(timer);
      return Promise.resolve();
    };
    const alarm = new SubmitAlarm({ now: () => this.now, sleep });
    this.scheduler = new Scheduler(runner, { cacheBlocks: 512, chunkSize: 64, alarm });
  }

  /** Runs while the host's clock is this one. */
  async run(work: () => Promise<void>): Promise<void> {
    const { now } = performance;
    performance.now = () => this.now;
    try {
      await work();
    } finally {
      performance.now = now;
    }
  }

  /** Decodes a sequence; what happened after its first `skipped` submits. */
  async decode(maxTokens: number, skipped: number) {
    await this.run(async () => void await add(this.scheduler, promptOf(40), maxTokens).ended);
    // How long before the end of the submit that ran another one was planned, and how long the device
    // had nothing to do then.
    const pairs = this.submits.slice(skipped).map((next, i) => {
      const { began, milliseconds } = this.submits[skipped + i - 1]!;
      const end = began + milliseconds;
      return { lead: end - next.planned, idle: next.began - end };
    });
    return { leads: pairs.map(({ lead }) => lead), idles: pairs.map(({ idle }) => idle) };
  }
}

Deno.test("where reading blocks, what follows a submit is planned shortly before its end", async () => {
  for (const recording of [0.2, 1, 5]) {
    const device = new SlowDevice();
    device.recording = recording;
    const { leads, idles } = await device.decode(1500, 10);
    assert(leads.length > 400, `${leads.length} submits`);
    assert(Math.max(...leads) < 9, `${recording} ms: ${leads}`);
    // Once it is known how long recording takes, the read that follows blocks for some 2 ms.
    for (const lead of leads.slice(-200)) assert(Math.abs(lead - recording - 2) < 1, `${leads}`);
    assertEquals(Math.max(...idles.slice(-200)), 0);
  }
});

Deno.test("short submits are planned at once", async () => {
  const device = new SlowDevice();
  device.step = 0.5;
  const { idles } = await device.decode(400, 10);
  assertEquals([device.sleeps, Math.max(...idles)], [[], 0]);
});

Deno.test("a host that takes longer than the device hardly ever sleeps", async () => {
  const device = new SlowDevice();
  device.step = 1;
  device.recording = 12;
  const { leads } = await device.decode(3000, 10);
  assert(device.sleeps.length < leads.length / 30, `${device.sleeps.length} of ${leads.length}`);
});

Deno.test("where reading does not block, the host never sleeps", async () => {
  const device = new SlowDevice();
  device.runner.readsBlock = false;
  await device.decode(400, 10);
  assertEquals(device.sleeps, []);
});

Deno.test("a request that comes while the host sleeps takes part in the next submit", async () => {
  const device = new SlowDevice();
  let second: Run | undefined;
  device.onSleep = (timer) => {
    if (timer === 20) second = add(device.scheduler, promptOf(30, 2), 5);
  };
  let during = 0;
  const { submit } = device.runner;
  device.runner.submit = (plan, repeats) => {
    if (second && during === 0) during = device.submits.length;
    return submit(plan, repeats);
  };
  await device.decode(400, 10);
  await second!.ended;
  assert(device.submits[during]!.rows > 1, `${device.submits[during]!.rows} rows`);
  const before = device.submits[during - 1]!;
  assertEquals(device.submits[during]!.began, before.began + before.milliseconds);
});

Deno.test("after an abort while the host sleeps, nothing more is submitted", async () => {
  const device = new SlowDevice();
  let submits = 0;
  await device.run(async () => {
    const run = add(device.scheduler, promptOf(40), 400);
    device.onSleep = (timer) => {
      if (timer !== 20) return;
      submits = device.submits.length;
      run.sequence.abort();
    };
    assertEquals(await run.ended, "aborted");
    await device.scheduler.close();
  });
  assertEquals(device.submits.length, submits);
});

Deno.test("late timers cost little: the host wakes sooner, or does not sleep", async () => {
  // A submit takes 36 ms.
  for (const late of [10, 20, 60]) {
    const device = new SlowDevice();
    device.late = () => late;
    const { idles } = await device.decode(1500, 10);
    const idle = idles.reduce((sum, one) => sum + one, 0);
    const ran = device.submits.reduce((sum, { milliseconds }) => sum + milliseconds, 0);
    assert(idle < ran / 50, `${late} ms late: ${idle} of ${ran} ms idle`);
  }
});

Deno.test("a machine that was busy for a while makes the host sleep less only for a while", async () => {
  const device = new SlowDevice();
  device.late = (timer) => timer > 20 && timer < 25 ? 60 : 0;
  const { leads } = await device.decode(3000, 10);
  assert(Math.max(...leads) > 20, `${leads}`);
  assert(leads.at(-2)! < 9, `${leads}`);
});
