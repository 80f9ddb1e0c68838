// What a device on the CPU gives back: its threads, those too that are still starting.

import { assertEquals } from "@std/assert";
import { CpuDevice } from "../../../kernels/cpu/device.ts";
import { until } from "../../until.ts";
import { formatNamed, randomMatrix } from "../weights.ts";

/** How many workers have been made while the function ran, and which of them have ended. */
async function withWorkers(run: () => Promise<void>): Promise<{ made: number; ended: number }> {
  const { Worker } = globalThis;
  const [made, ended] = [new Set<Worker>(), new Set<Worker>()];
  globalThis.Worker = class extends Worker {
    constructor(...args: ConstructorParameters<typeof Worker>) {
      super(...args);
      made.add(this);
    }
    override terminate(): void {
      ended.add(this);
      super.terminate();
    }
  };
  try {
    await run();
    await until(() => ended.size >= made.size);
    return { made: made.size, ended: ended.size };
  } finally {
    globalThis.Worker = Worker;
  }
}

Deno.test("a device that is closed ends its threads, and keeps no account", async () => {
  const workers = await withWorkers(async () => {
    const device = await CpuDevice.open({ threads: 3 });
    device.buffer("some", 1000, "scratch");
    const shared = device.share();
    shared.buffer("other", 1000, "scratch");
    shared[Symbol.dispose]();
    assertEquals([...shared.allocated.values()], []);
    device[Symbol.dispose]();
    assertEquals([...device.allocated.values()], []);
  });
  assertEquals(workers, { made: 2, ended: 2 }); // The host is the third.
});

Deno.test("a device that is closed while its threads start ends them", async () => {
  const workers = await withWorkers(async () => {
    using device = await CpuDevice.open();
    assertEquals(device.profile.platform.name, "cpu");
  });
  assertEquals(workers.ended, workers.made);
});

Deno.test("a table that is looked up and multiplied by stands in memory once", async () => {
  using device = await CpuDevice.open({ threads: 1 });
  const { matrix } = randomMatrix(device, formatNamed("Q8_0"), { rows: 20, columns: 64 });
  const buffer = () => device.buffer("some", 1024, "scratch");
  const rowsOf = (columns: number) => ({ columns, stride: columns, floats: buffer() });
  const step = { plan: buffer(), slots: buffer(), rows: buffer(), history: buffer(), context: 1 };
  const weights = device.allocated.get("weights");
  device.embed(matrix, step, rowsOf(64));
  device.linear(matrix, rowsOf(64), rowsOf(32));
  assertEquals(device.allocated.get("weights"), weights);
});
