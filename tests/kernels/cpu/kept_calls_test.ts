// Calls of kernels that are kept from one step to the next.

import { assertEquals } from "@std/assert";
import { CpuCore } from "../../../kernels/cpu/core.ts";
import { CpuDevice } from "../../../kernels/cpu/device.ts";
import { keepCalls } from "../../../kernels/cpu/kept_calls.ts";
import type { Pass } from "../../../kernels/mod.ts";

Deno.test("calls are made once for the same counts, and anew when a count or the memory changes", async () => {
  const core = new CpuCore();
  const made: number[][] = [];
  const run = keepCalls(core, (rows: number, parts: number) => {
    made.push([rows, parts]);
    return [];
  });
  core.temporary(1024);
  for (const counts of [[1, 1], [1, 1], [1, 2], [8, 2], [8, 2], [1, 1]]) run(counts[0], counts[1]);
  assertEquals(made.splice(0), [[1, 1], [1, 2], [8, 2], [1, 1]]);
  core.temporary(512); // What is there is large enough.
  run(1, 1);
  assertEquals(made.splice(0), []);
  core.temporary(1 << 20);
  run(1, 1);
  run(1, 1);
  assertEquals(made.splice(0), [[1, 1]]);
  core.results(1 << 20);
  run(1, 1);
  assertEquals(made, [[1, 1]]);
  await core.close();
});

Deno.test("a kept call writes where the memory is that its operation shares, however that grows", async () => {
  const core = new CpuCore();
  const x = core.kept("x", 4 * 64);
  x.floats.fill(1);
  const y = core.kept("y", core.groupBytes * 2);
  const run = keepCalls(core, (rows: number) => {
    const rowsOfFloats = core.temporary(4 * 64 * rows);
    rowsOfFloats.floats.fill(rows, 0, 64 * rows);
    return [[{ ...core.quantizing(rowsOfFloats, y, rows, 2), items: rows }]];
  });
  run(1);
  const before = [...y.bytes];
  const old = core.temporary(0);
  core.temporary(old.size + 64);
  old.floats.fill(0); // Somebody else's by now.
  y.bytes.fill(0);
  run(1);
  assertEquals([...y.bytes], before);
  await core.close();
});

Deno.test("calls that wait have the arguments that they were run with, whatever comes after", async () => {
  const core = new CpuCore();
  const x = core.kept("x", 4 * 32);
  const y = core.kept("y", core.groupBytes);
  const order: number[] = [];
  const run = keepCalls(core, (count: number) => {
    order.push(count);
    return [[{ ...core.quantizing(x, y, 1, count), items: 1 }]];
  });
  x.floats.fill(1);
  core.together(() => {
    // With no group nothing is written.
    for (const count of [1, 1, 0, 0, 1, 1, 0, 0]) run(count);
  });
  assertEquals(order, [1, 0, 1, 0]);
  assertEquals(y.bytes[0], 127);
  await core.close();
});

Deno.test("a captured step is encoded once and runs as often as it is asked for", async () => {
  const device = await CpuDevice.open({ threads: 1 });
  let encoded = 0;
  let ran = 0;
  const [replay] = device.capture((pass) => {
    encoded++;
    (pass as unknown as (() => void)[]).push(() => void ran++);
  });
  for (let step = 0; step < 3; step++) {
    const recorder = device.record();
    recorder.pass((pass: Pass) => replay(pass));
    device.submit(recorder.finish());
  }
  assertEquals([encoded, ran], [1, 3]);
  device[Symbol.dispose]();
});
