// What sequences hold: forks share whole blocks and copy the rest, cuts give blocks back, and nothing
// that is shared is written to. On the GPU: a fork goes on as the whole sequence would.

import { assert, assertEquals } from "@std/assert";
import { loadModel } from "../../engine/mod.ts";
import { Sequence } from "../../engine/sequence.ts";
import { SequencePool } from "../../engine/sequence_pool.ts";
import { writeTinyLlama } from "../tiny_model.ts";
import { nmse } from "../gpu.ts";
import { FakeRunner } from "./fake_runner.ts";

function start({ slots = 3, blocks = 8 } = {}) {
  const runner = new FakeRunner({ slots, context: 256, blocks, chunk: 64 });
  return { runner, pool: new SequencePool(runner.asStepRunner, blocks) };
}

function sequenceOf(length: number): Sequence {
  const sampling = {} as Sequence["request"]["sampling"];
  const prompt = Array.from({ length }, (_, i) => i % 200);
  return new Sequence({ prompt, sampling, maxTokens: 0, accept: () => false, end: () => {} });
}

function fed(pool: SequencePool, length: number): Sequence {
  const sequence = sequenceOf(length);
  assert(pool.take(sequence, length));
  sequence.submitted = length;
  return sequence;
}

Deno.test("a fork shares whole blocks and has its own copy of the last one", () => {
  const { pool } = start();
  const trunk = fed(pool, 70); // blocks of 32: two whole ones and six positions
  const fork = sequenceOf(80);
  assert(pool.fork(trunk, fork));
  assertEquals(fork.blocks.slice(0, 2), trunk.blocks.slice(0, 2));
  assert(fork.blocks[2] !== trunk.blocks[2]);
  assertEquals(fork.submitted, 70);
  assert(fork.slot !== trunk.slot);
});

Deno.test("shared blocks are free once nobody has them", () => {
  const { pool } = start({ blocks: 4 });
  const trunk = fed(pool, 64);
  const fork = sequenceOf(64);
  assert(pool.fork(trunk, fork));
  pool.release(trunk);
  assert(!pool.take(sequenceOf(96), 96), "two of four blocks are still the fork's");
  pool.release(fork);
  assert(pool.take(sequenceOf(128), 128));
});

Deno.test("a fork that finds no slot or no block changes nothing", () => {
  const full = start({ slots: 1 });
  const alone = fed(full.pool, 40);
  assert(!full.pool.fork(alone, sequenceOf(40)));
  const tight = start({ blocks: 2 });
  const trunk = fed(tight.pool, 40);
  const fork = sequenceOf(40);
  assert(!tight.pool.fork(trunk, fork));
  assertEquals([fork.slot, fork.blocks, fork.submitted], [-1, [], 0]);
});

Deno.test("truncate() keeps what it can: positions, whole shared blocks, or nothing", () => {
  const { pool, runner } = start();
  const alone = fed(pool, 70);
  assertEquals(pool.truncate(alone, 40), 40);
  assertEquals(alone.blocks.length, 2);
  assertEquals(pool.truncate(alone, 60), 40, "there is no more than was fed");
  const fork = sequenceOf(64);
  alone.submitted = 64;
  assert(pool.fork(alone, fork));
  assertEquals(pool.truncate(fork, 40), 32, "its second block is shared");
  runner.hasStates = true;
  assertEquals(pool.truncate(alone, 40), 0, "states do not go back");
  assertEquals(alone.blocks, []);
});

Deno.test("sequences after a common prefix have the logits of whole ones", async () => {
  const path = await Deno.makeTempFile({ suffix: ".gguf" });
  try {
    await writeTinyLlama(path);
    await using model = await loadModel(path, { contextLength: 128, exact: true });
    const prefix = Array.from({ length: 40 }, (_, i) => i * 7 % 256);
    const suffixes = [[1, 2, 3], [200, 100, 50, 25]];
    const forked = await model.batchLogits(suffixes, { prefix });
    for (const [i, suffix] of suffixes.entries()) {
      const whole = await model.logits([...prefix, ...suffix]);
      const expected = whole.subarray(prefix.length * 300);
      assert(nmse(forked[i], expected) < 1e-10, `suffix ${i}: ${nmse(forked[i], expected)}`);
    }
  } finally {
    await Deno.remove(path);
  }
});
