// What sequences hold: forks share whole blocks and copy the rest, cuts give blocks back, full blocks
// are found again, and nothing that is shared is written to. On the GPU: a fork goes on as the whole
// sequence would.

import { loadModel } from "../../../engine/mod.ts";
import { Sequence } from "../../../engine/run/sequence.ts";
import { SequencePool } from "../../../engine/run/sequence_pool.ts";
import { nmse } from "../../numbers.ts";
import { writeTinyLlama } from "../../tiny_model.ts";
import { FakeRunner } from "./fake_runner.ts";
import { assert, assertEquals } from "@std/assert";

function start(
  { slots = 3, blocks = 8, ...states }: { slots?: number; blocks?: number; stateCopies?: number } =
    {},
) {
  const runner = new FakeRunner({ slots, context: 256, blocks, chunkSize: 64, ...states });
  return { runner, pool: new SequencePool(runner, blocks) };
}

function sequenceOf(length: number): Sequence {
  const sampling = {} as Sequence["request"]["sampling"];
  const prompt = Array.from({ length }, (_, i) => i % 200);
  return new Sequence({ prompt, sampling, maxTokens: 0, accept: () => false, end: () => {} });
}

function fed(pool: SequencePool, length: number): Sequence {
  const sequence = sequenceOf(length);
  assert(pool.take(sequence, length));
  sequence.advance(length);
  return sequence;
}

Deno.test("a fork shares whole blocks and has its own copy of the last one", () => {
  const { pool } = start();
  const trunk = fed(pool, 70); // blocks of 32: two whole ones and six positions
  const fork = sequenceOf(80);
  assert(pool.fork(trunk, fork));
  assertEquals(fork.memory.blocks.slice(0, 2), trunk.memory.blocks.slice(0, 2));
  assert(fork.memory.blocks[2] !== trunk.memory.blocks[2]);
  assertEquals(fork.submitted, 70);
  assert(fork.memory.slot !== trunk.memory.slot);
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
  assertEquals([fork.memory.slot, fork.memory.blocks, fork.submitted], [-1, [], 0]);
});

Deno.test("a block that a fork has after others becomes known when the fork is gone", () => {
  const { pool } = start({ blocks: 12 });
  const [first, second] = [fed(pool, 64), fed(pool, 96)];
  const fork = sequenceOf(96);
  assert(pool.fork(second, fork));
  pool.publish(first);
  pool.publish(second);
  assertEquals(
    second.memory.blocks.slice(0, 2),
    first.memory.blocks,
    "the same tokens, in the same blocks",
  );
  assertEquals([second.memory.knownBlocks, fork.memory.knownBlocks], [2, 0]);
  pool.release(fork);
  pool.publish(second);
  assertEquals(second.memory.knownBlocks, 3);
  for (const sequence of [first, second]) pool.release(sequence);
  assertEquals(pool.blockCounts, { free: 9, idle: 3, used: 0 });
});

Deno.test("whatever sequences do, all blocks are accounted for and hold what they should", () => {
  let state = 11;
  const random = (below: number) => (state = Math.imul(state, 1103515245) + 12345 >>> 8) % below;
  const [blocks, slots] = [12, 4];
  const { pool } = start({ slots, blocks });
  const memory: number[][] = Array.from({ length: blocks }, () => []);
  let live: Sequence[] = [];
  let found = 0;
  const feed = (sequence: Sequence, count: number) => {
    for (let i = 0; i < count && sequence.submitted < sequence.tokens.length; i++) {
      const { submitted: position, tokens } = sequence;
      const block = sequence.memory.blocks[Math.floor(position / 32)];
      const owners = live.filter((other) => other.memory.blocks.includes(block));
      assertEquals(owners.length, 1, "nobody writes to a block of two");
      assert(sequence.memory.knownBlocks <= position / 32, "nobody writes to a known block");
      memory[block][position % 32] = tokens[position];
      sequence.advance(1);
    }
    pool.publish(sequence);
  };
  const actions = [
    () => {
      const sequence = sequenceOf(1 + random(200));
      if (random(2) === 0) {
        const { length } = sequence.tokens;
        const [other, kept] = [1000 + random(3), random(length)];
        sequence.truncate(kept);
        sequence.append(...Array.from({ length: length - kept }, () => other));
      }
      if (!pool.takeCached(sequence)) return;
      found += sequence.submitted;
      live.push(sequence);
    },
    (sequence: Sequence) => feed(sequence, random(100)),
    (sequence: Sequence) => feed(sequence, 100),
    (sequence: Sequence) => {
      const fork = sequenceOf(0);
      if (!pool.fork(sequence, fork)) return;
      fork.append(...sequence.tokens.slice(0, fork.submitted), random(3), 1, 2, 3);
      const at = fork.submitted >> 5;
      const [from, to] = [sequence, fork].map(({ memory }) => memory.blocks[at]);
      if (fork.submitted % 32 > 0) memory[to] = [...memory[from]];
      live.push(fork);
      if (!pool.grow(fork, fork.tokens.length)) {
        pool.release(fork);
        live.pop();
      }
    },
    (sequence: Sequence) => {
      if (pool.grow(sequence, sequence.tokens.length)) return;
      pool.release(sequence);
      live = live.filter((other) => other !== sequence);
    },
    (sequence: Sequence) => {
      pool.release(sequence);
      live = live.filter((other) => other !== sequence);
    },
  ];
  for (let round = 0; round < 5000; round++) {
    const action = random(actions.length);
    if (action === 0 || live.length > 0) actions[action](live[random(live.length)]);
    const { free, idle, used } = pool.blockCounts;
    assertEquals(free + idle + used, blocks);
    assertEquals(used, new Set(live.flatMap((sequence) => sequence.memory.blocks)).size);
    for (const { tokens, submitted, memory: { blocks } } of live) {
      const held = tokens.map((_, i) => memory[blocks[i >> 5]]?.[i & 31]).slice(0, submitted);
      assertEquals(held, tokens.slice(0, submitted));
    }
  }
  assert(found > 1000, `only ${found} tokens were found`);
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
