// How threads share steps on machines with more cores than this one, simulated (bench/many_cores), where the
// code of share.ts and control.ts runs as it is.

import { assert, assertEquals } from "@std/assert";
import { barrierOf, equalCores, MACHINES } from "../../../bench/many_cores/machines.ts";
import { Simulation } from "../../../bench/many_cores/simulation.ts";
import { decodeLayer, decodeOutput, promptLayer } from "../../../bench/many_cores/steps.ts";
import { LLAMA_3_2_1B, SMOLLM2_135M, writeSyntheticLlama } from "../../../bench/synthetic_model.ts";
import { loadModel } from "../../../engine/model/mod.ts";
import { ThreadPool } from "../../../kernels/cpu/pool.ts";

const [SMALL, LARGE] = [SMOLLM2_135M, LLAMA_3_2_1B];

Deno.test("on every machine each item of a step is done once", () => {
  const steps = [decodeLayer(SMALL), decodeLayer(LARGE), promptLayer(SMALL, 100)];
  for (const [name, machine] of Object.entries(MACHINES)) {
    for (const step of steps) {
      const { doneBy } = new Simulation(machine).run(step);
      for (const done of doneBy.flat()) assert(done.every((thread) => thread >= 0), name);
    }
  }
});

Deno.test("64 threads do not wait for each other in line", () => {
  const large = new Simulation(equalCores(64)).run(decodeLayer(LARGE));
  assert(large.mostChanges <= 40, `${large.mostChanges} changes of a line in a phase`);
  assert(large.ideal / large.time > 0.75, `${large.time} in place of ${large.ideal}`);
  // Phases of a third of a microsecond, so most is barriers.
  const small = new Simulation(equalCores(64)).run(decodeLayer(SMALL));
  assert(small.mostChanges <= 8, `${small.mostChanges} changes of a line in a phase`);
  assert(small.time < 20_000, `${small.time}`);
});

Deno.test("a small model is no slower by more threads", () => {
  const times = [8, 16, 64].map((threads) =>
    new Simulation(equalCores(threads)).run(decodeLayer(SMALL)).time
  );
  assertEquals(times, times.toSorted((a, b) => b - a), `${times}`);
});

Deno.test("threads get shares by their speeds, and lose them when another program takes the core", () => {
  const speeds = [...Array(8).fill(1), ...Array(16).fill(0.5)];
  const simulation = new Simulation({ speeds, jitter: 0.05 });
  const step = decodeOutput({ ...SMALL, vocabulary: 8000 });
  const layer = decodeLayer(LARGE);
  const before = simulation.run(layer).time;
  for (let turn = 0; turn < 160; turn++) simulation.run(step);
  for (const [index, share] of simulation.shares.all.entries()) {
    const expected = speeds[index] / 16;
    assert(Math.abs(share / expected - 1) < 0.15, `${index}: ${share}, not ${expected}`);
  }
  const after = simulation.run(layer).time;
  assert(after < 0.9 * before, `${after} after ${before}`);
  speeds[0] = 0.25;
  for (let turn = 0; turn < 160; turn++) simulation.run(step);
  const [first, second] = simulation.shares.all;
  assert(first! < 0.4 * second!, `${first} and ${second}`);
});

Deno.test("a barrier of 64 threads takes less than twice that of 8", () => {
  assert(barrierOf(64) < 2 * barrierOf(8), `${barrierOf(64)} and ${barrierOf(8)}`);
});

Deno.test("the steps that are simulated are those of a model", async () => {
  const path = await Deno.makeTempFile({ suffix: ".gguf" });
  const { add, endPhase } = ThreadPool.prototype;
  const phases: number[][] = [[]];
  ThreadPool.prototype.add = function (operation) {
    phases.at(-1)!.push(operation.items);
    add.call(this, operation);
  };
  ThreadPool.prototype.endPhase = function () {
    phases.push([]);
    endPhase.call(this);
  };
  try {
    const shape = { ...SMALL, layers: 2, vocabulary: 400 };
    await writeSyntheticLlama(path, shape, { type: "Q4_0" });
    await using model = await loadModel(path, {
      contextLength: 64,
      maxSequences: 1,
      device: { kind: "cpu", threads: 1 },
    });
    const request = { prompt: [40, 41, 42], maxTokens: 4, temperature: 0, ignoreEnd: true };
    await Array.fromAsync(model.generate({ ...request, draftTokens: 0 }));
  } finally {
    Object.assign(ThreadPool.prototype, { add, endPhase });
    await Deno.remove(path);
  }
  const layer = decodeLayer(SMALL).map((phase) => phase.map(({ items }) => items));
  const last = phases.findLastIndex((items) => items.join() === layer[1]!.join());
  assertEquals(phases.slice(last - 1, last - 1 + layer.length), layer);
});
