// The shortest way from a state to the end of the document: the sum of the bytes that each frame
// still needs. It measures lengths and makes no texts, because a schema can require more than could
// ever be written.

import { TextEnds } from "./ends/text_ends.ts";
import { ProgramEnds, ValueEnds } from "./ends/value_ends.ts";
import type { Ends } from "./frames/frame_kind.ts";
import { EITHER } from "./frames/layouts.ts";
import type { Stack } from "./frames/stacks.ts";
import type { Machine, State } from "./machine.ts";
import type { Rules } from "./rules/rules.ts";

/** Measures what documents lack. */
export class Completion {
  readonly #machine: Machine;
  readonly #ends: Ends;
  readonly #costs = new Map<State, number>();
  readonly #stackCosts = new Map<Stack, number>();

  constructor(machine: Machine) {
    this.#machine = machine;
    const texts = new TextEnds(machine.stacks.words, machine.rules.work);
    this.#ends = new LazyEnds(machine.rules, texts);
  }

  /** Fewest bytes to the end; Infinity if there are too many to count. */
  cost(state: State): number {
    let cost = this.#costs.get(state);
    if (cost === undefined) {
      cost = this.#least(this.#machine.stacksOf(state));
      this.#costs.set(state, cost);
    }
    return cost;
  }

  #least(list: readonly Stack[]): number {
    let least = Infinity;
    for (const stack of list) least = Math.min(least, this.#costOf(stack));
    return least;
  }

  #costOf(stack: Stack): number {
    const { stacks } = this.#machine;
    const path: Stack[] = [];
    let at = stack;
    while (!this.#stackCosts.has(at)) {
      if (stacks.isBottom(at)) this.#stackCosts.set(at, 0);
      else if (stacks.kind(at) === EITHER.kind) {
        this.#stackCosts.set(at, this.#least(stacks.members(at)));
      } else {
        path.push(at);
        at = this.#below(at);
      }
    }
    let cost = this.#stackCosts.get(at)!;
    for (const above of path.reverse()) {
      cost += this.#machine.completion(above, this.#ends);
      this.#stackCosts.set(above, cost);
    }
    return cost;
  }

  /** The stack below the top frame, or below the object of a key. */
  #below(stack: Stack): Stack {
    const { stacks } = this.#machine;
    const parent = stacks.parent(stack);
    return stacks.isKey(stack) ? stacks.parent(parent) : parent;
  }
}

/** Ends that are measured when they are requested. */
class LazyEnds implements Ends {
  readonly texts: TextEnds;
  readonly #rules: Rules;
  #values: ValueEnds | undefined;
  #program: ProgramEnds | undefined;

  constructor(rules: Rules, texts: TextEnds) {
    this.#rules = rules;
    this.texts = texts;
  }

  get values(): ValueEnds {
    return this.#values ??= new ValueEnds(this.#rules, this.texts);
  }

  get program(): ProgramEnds {
    return this.#program ??= new ProgramEnds(this.#rules, this.texts, this.values);
  }
}
