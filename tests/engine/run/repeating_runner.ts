// A fake runner whose texts repeat, so that drafts by prompt lookup come and are mostly right.

import { Scheduler } from "../../../engine/run/scheduler.ts";
import { FakeRunner, nextToken } from "./fake_runner.ts";

/** A runner whose tokens are mostly those of a text that goes around. */
export class RepeatingRunner extends FakeRunner {
  /** Every so many tokens something else comes. */
  surprise = Infinity;

  override follow(tokens: readonly number[]): number {
    const { length } = tokens;
    return length % this.surprise === 0 ? nextToken(tokens) : (tokens[length - 40] ?? 1) % 256;
  }

  /** What a sequence alone would give. */
  textOf(prompt: readonly number[], count: number): number[] {
    const tokens = [...prompt];
    for (let i = 0; i < count; i++) tokens.push(this.follow(tokens));
    return tokens.slice(prompt.length);
  }

  /** A scheduler with such a runner. */
  static start(options: { stateCopies?: number; slots?: number; blocks?: number } = {}) {
    const sizes = { slots: 4, context: 1024, blocks: 130, chunkSize: 64, ...options };
    const runner = new RepeatingRunner(sizes);
    return {
      runner,
      scheduler: new Scheduler(runner, { cacheBlocks: sizes.blocks, chunkSize: sizes.chunkSize }),
    };
  }
}
