// Sequences on a scheduler whose runner is the fake one: what its tests share.

import { nextTask } from "../../../engine/async.ts";
import type { PromptItem } from "../../../engine/prompt/prompt_media.ts";
import type { BlockTiers } from "../../../engine/run/offload.ts";
import { Scheduler } from "../../../engine/run/scheduler.ts";
import type {
  ConstraintFork,
  Sequence,
  SequenceEnd,
  TokenConstraint,
} from "../../../engine/run/sequence.ts";
import { allowedFrom, FakeRunner, type FakeRunnerOptions } from "./fake_runner.ts";
import { assert } from "@std/assert";

/** A sequence on its way. */
export interface Run {
  /** Those generated so far. */
  tokens: number[];
  sequence: Sequence;
  /** What it was told of those that come before it. */
  told: number[];
  /** What `begin` was called with, once it was. */
  cachedTokens: () => number | undefined;
  ended: Promise<SequenceEnd>;
}

/** A scheduler with its runner. */
export function start(options: Partial<FakeRunnerOptions> = {}, tiers?: BlockTiers) {
  const sizes = { slots: 4, context: 256, blocks: 20, chunkSize: 16, ...options };
  const runner = new FakeRunner(sizes);
  const { blocks: cacheBlocks, chunkSize } = sizes;
  const scheduler = new Scheduler(runner, { cacheBlocks, chunkSize, tiers });
  return { runner, scheduler };
}

/** Tokens of which no block is like one of another seed. */
export function promptOf(length: number, seed = 1): number[] {
  return Array.from({ length }, (_, i) => (seed * 131 + i * 7) % 1000);
}

/** Queues a sequence. `accept` is called with the number of its tokens. */
export function add(
  scheduler: Scheduler,
  prompt: readonly PromptItem[],
  maxTokens: number,
  accept: (count: number) => boolean = () => true,
  constraint?: TokenConstraint,
  more: Partial<Sequence["request"]> = {},
): Run {
  const { promise: ended, resolve: end } = Promise.withResolvers<SequenceEnd>();
  const tokens: number[] = [];
  const told: number[] = [];
  let cachedTokens: number | undefined;
  const sequence = scheduler.add({
    prompt,
    maxTokens,
    sampling: { temperature: 0 } as Sequence["request"]["sampling"],
    wait: (ahead) => void told.push(ahead),
    begin: (count) => cachedTokens = count,
    accept: (token) => accept(tokens.push(token)),
    end,
    ...(constraint && { constraint }),
    ...more,
  });
  return { tokens, told, sequence, ended, cachedTokens: () => cachedTokens };
}

/** Waits for as many turns of the event loop: a step of the fake runner takes one. */
export async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await nextTask();
}

/** Waits until the condition holds, and looks after every step. */
export async function until(condition: () => boolean): Promise<void> {
  for (let turn = 0; !condition(); turn++) {
    assert(turn < 100_000, "Expected the condition to come true");
    await nextTask();
  }
}

/** Only tokens of the place's remainder by three may come, and after every fifth one two zeros must. */
export class ByThrees implements TokenConstraint {
  constructor(public place = 0) {}

  mask(): Uint32Array<ArrayBuffer> {
    const mask = new Uint32Array(8);
    for (let t = this.place % 3; t < 256; t += 3) mask[t >>> 5]! |= 1 << (t & 31);
    return mask;
  }

  forced(most: number): number[] {
    return this.place % 7 === 5 ? [0, 0].slice(0, most) : [];
  }

  fork(): ConstraintFork {
    const fork = new ByThrees(this.place);
    return Object.assign(fork, {
      accept(token: number) {
        const isForced = fork.place % 7 >= 5;
        if (isForced ? token !== 0 : token % 3 !== fork.place % 3) return false;
        fork.place++;
        return true;
      },
    });
  }

  static textOf(runner: FakeRunner, prompt: readonly number[], count: number): number[] {
    const tokens = [...prompt];
    for (let place = 0; place < count; place++) {
      const mask = new ByThrees(place).mask();
      tokens.push(place % 7 >= 5 ? 0 : allowedFrom(runner.follow(tokens), mask));
    }
    return tokens.slice(prompt.length);
  }
}
