// Blocks that leave the device's cache: they come back for prompts that begin with their tokens, from
// memory and from disk, whatever the model is, and no answer is another one for it.

import { DiskStore, MemoryStore } from "../../../engine/block_store/mod.ts";
import type { Scheduler } from "../../../engine/run/scheduler.ts";
import { continuation, type FakeRunner, type FakeRunnerOptions } from "./fake_runner.ts";
import { add, promptOf, start, turns } from "./scheduler_runs.ts";
import { assert, assertEquals } from "@std/assert";

const BLOCK = 32;
const MEMORY = 2 ** 24;
const DISK = 2 ** 26;

/** A conversation so far. */
interface Talk {
  prompt: number[];
  /** Tokens that the model has seen of it. */
  known: number;
}

const talksOf = (count: number, length: number): Talk[] =>
  Array.from({ length: count }, (_, seed) => ({ prompt: promptOf(length, seed + 1), known: 0 }));

/** Has all conversations go on by a turn, at once; returns the tokens that they read, and knew. */
async function turn(scheduler: Scheduler, talks: readonly Talk[], answer = 20) {
  const runs = talks.map(({ prompt }) => add(scheduler, prompt, answer));
  let [read, known] = [0, 0];
  for (const [i, run] of runs.entries()) {
    assertEquals(await run.ended, "length");
    const talk = talks[i]!;
    assertEquals(run.tokens, continuation(talk.prompt, answer));
    read += Math.max(0, talk.known - run.cachedTokens()!);
    known += talk.known;
    talk.known = talk.prompt.length + answer - 1; // the last token was never fed
    talk.prompt.push(...run.tokens, 7, 8, 9);
  }
  return { read, known };
}

/** Waits until all idle blocks are on disk: a scheduler that is closed waits for a while, and no longer. */
async function settle(runner: FakeRunner, disk: DiskStore): Promise<void> {
  let before: number;
  do {
    before = runner.blocksRead;
    await disk.flush();
    await turns(10);
  } while (runner.blocksRead > before);
  await disk.flush();
}

const memoryTier = () => ({ model: "one", memory: new MemoryStore(MEMORY).open("one") });

/** A cache for six conversations of up to 28 blocks. */
const SIZES = { slots: 4, context: 900, blocks: 6 * 28, chunkSize: 64 };

for (
  const [kind, options] of [
    ["a model of attention alone", {}],
    ["a model with recurrent states", { stateCopies: 8 }],
  ] as [string, Partial<FakeRunnerOptions>][]
) {
  Deno.test(`forty conversations with a cache for six read what is new: ${kind}`, async () => {
    const { scheduler } = start({ ...SIZES, ...options }, memoryTier());
    const talks = talksOf(40, 750);
    await turn(scheduler, talks);
    const { read, known } = await turn(scheduler, talks);
    assert(read <= 0.05 * known, `${read} of ${known} tokens were read again`);
    assert(read <= 40 * BLOCK, `${read} tokens are more than a block each`);
    await scheduler.close();
  });

  Deno.test(`conversations go on after a restart from what is on disk: ${kind}`, async () => {
    const folder = await Deno.makeTempDir();
    const warnings: string[] = [];
    const stores: DiskStore[] = [];
    const open = async (model = "one") => {
      const warn = (text: string) => warnings.push(text);
      const disk = await DiskStore.open(model, { folder, bytes: DISK }, warn);
      stores.push(disk);
      return { model, disk };
    };
    try {
      const before = start({ ...SIZES, ...options }, await open());
      const talks = talksOf(8, 600);
      await turn(before.scheduler, talks);
      await settle(before.runner, stores[0]!);
      await before.scheduler.close();

      const after = start({ ...SIZES, ...options }, await open());
      const { read, known } = await turn(after.scheduler, talks);
      assert(read <= 0.05 * known, `${read} of ${known} tokens were read again`);
      await after.scheduler.close();

      const other = start({ ...SIZES, ...options }, await open("two"));
      const stranger = add(other.scheduler, talks[0]!.prompt, 3);
      await stranger.ended;
      assertEquals(stranger.cachedTokens(), 0, "another model has other blocks");
      await other.scheduler.close();
      assertEquals(warnings, []);
    } finally {
      // Where a check has failed, some still write, which would hide what it says.
      for (const disk of stores) await disk.flush();
      await Deno.remove(folder, { recursive: true });
    }
  });
}

Deno.test("a sequence that was preempted goes on from its blocks in memory", async () => {
  const { scheduler, runner } = start({ slots: 2, context: 512, blocks: 14 }, memoryTier());
  const prompts = [promptOf(190, 1), promptOf(190, 2)];
  const runs = prompts.map((prompt) => add(scheduler, prompt, 100));
  for (const [i, run] of runs.entries()) {
    assertEquals(await run.ended, "length");
    assertEquals(run.tokens, continuation(prompts[i]!, 100));
  }
  assert(runner.admissions > 2, "one was preempted");
  assert(runner.rowsFed < 2 * 290 + 3 * BLOCK, `${runner.rowsFed} rows were fed`);
  await scheduler.close();
});

Deno.test("a block is copied once, however many sequences begin with it", async () => {
  const { scheduler, runner } = start({ blocks: 40 }, memoryTier());
  const prompt = promptOf(100);
  for (let seed = 0; seed < 5; seed++) await add(scheduler, [...prompt, seed], 3).ended;
  await scheduler.close();
  assertEquals([runner.blocksRead, runner.blocksWritten], [3, 0]);
});

Deno.test("where no memory is left for blocks, all goes as without", async () => {
  const memory = new MemoryStore(5 * BLOCK * 4);
  const { scheduler } = start({ blocks: 16 }, { model: "one", memory: memory.open("one") });
  const talks = talksOf(6, 150);
  for (let i = 0; i < 3; i++) await turn(scheduler, talks);
  assert(memory.bytes <= memory.limit);
  await scheduler.close();
});
