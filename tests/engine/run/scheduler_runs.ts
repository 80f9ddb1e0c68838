// Sequences on a scheduler whose runner is the fake one: what its tests share.

import type { PromptItem } from "../../../engine/prompt/prompt_images.ts";
import type { BlockTiers } from "../../../engine/run/offload.ts";
import { Scheduler } from "../../../engine/run/scheduler.ts";
import type { Sequence, SequenceEnd, TokenConstraint } from "../../../engine/run/sequence.ts";
import { FakeRunner, type FakeRunnerOptions } from "./fake_runner.ts";

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
  const scheduler = new Scheduler(
    runner,
    sizes.blocks,
    sizes.chunkSize,
    undefined,
    undefined,
    tiers,
  );
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
  });
  return { tokens, told, sequence, ended, cachedTokens: () => cachedTokens };
}
