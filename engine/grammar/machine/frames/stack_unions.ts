// Joins stacks. Ambiguous grammars, and unions within unions, have many stacks that differ only in
// lower frames. Those with equal top frames become one stack above a set of what is below them, at
// every level, so that their number is a sum instead of a product (Tomita, "Efficient Parsing for
// Natural Language", 1985).

import type { Work } from "../../language/mod.ts";
import { DOCUMENT_END, EITHER, GRAMMAR_POSITION, TEXT } from "./layouts.ts";
import { BOTTOM, type Stack, type Stacks } from "./stacks.ts";

/** Deepest frame that is compared. Stacks that differ only below it stay apart. */
const MAX_DEPTH = 200;

/** Steps of work for joining a stack. */
const STACK_STEPS = 3;

/** Joins stacks of one collection. */
export class StackUnions {
  readonly #stacks: Stacks;
  readonly #work: Work;
  /** By the set of joined stacks. */
  readonly #joined = new Map<number, readonly Stack[]>();

  constructor(stacks: Stacks, work: Work) {
    this.#stacks = stacks;
    this.#work = work;
  }

  /** The fewest stacks that together continue as the given ones do. */
  join(list: readonly Stack[], depth = 0): readonly Stack[] {
    if (list.length === 1 && this.#stacks.kind(list[0]!) !== EITHER.kind) return list;
    const set = this.#stacks.setOf(list);
    let joined = this.#joined.get(set);
    if (!joined) {
      joined = this.#join(list, depth);
      this.#joined.set(set, joined);
    }
    return joined;
  }

  #join(list: readonly Stack[], depth: number): readonly Stack[] {
    const stacks = this.#stacks;
    this.#work.charge(STACK_STEPS * list.length);
    const groups = new Map<number, Set<Stack>>();
    const add = (stack: Stack) => {
      const group = groups.get(this.#topOf(stack));
      if (group) group.add(stack);
      else groups.set(this.#topOf(stack), new Set([stack]));
    };
    for (const stack of list) {
      if (stacks.kind(stack) === EITHER.kind) stacks.members(stack).forEach(add);
      else add(stack);
    }
    return [...groups.values()].flatMap((group) => {
      const [first] = group as Set<Stack> & Iterable<Stack>;
      if (group.size === 1 || depth > MAX_DEPTH || !this.#isJoinable(group)) return [...group];
      const below = this.either([...group].map((stack) => this.#below(stack)), depth + 1);
      const parent = stacks.isKey(first)
        ? stacks.push(stacks.frame(stacks.parent(first)), below)
        : below;
      return stacks.push(stacks.frame(first), parent);
    });
  }

  /** A key that stacks with equal top frames share. A key and its object count as one frame. */
  #topOf(stack: Stack): number {
    const stacks = this.#stacks;
    return stacks.topOf(stack) +
      (stacks.isKey(stack) ? stacks.topOf(stacks.parent(stack)) * 2 ** 26 : 0);
  }

  /** The stack below the top frame, or below the object of a key. */
  #below(stack: Stack): Stack {
    const parent = this.#stacks.parent(stack);
    return this.#stacks.isKey(stack) ? this.#stacks.parent(parent) : parent;
  }

  /** Whether the top frame does not depend on the frames below. */
  #isJoinable(group: ReadonlySet<Stack>): boolean {
    const stacks = this.#stacks;
    for (const stack of group) {
      const kind = stacks.kind(stack);
      if (kind === TEXT.kind || kind === GRAMMAR_POSITION.kind || kind === DOCUMENT_END.kind) {
        return true;
      }
      // The end of a number depends on what follows the document, and items depend on those before
      // them.
      if (stacks.compares(stack) || stacks.kind(this.#below(stack)) === DOCUMENT_END.kind) {
        return false;
      }
    }
    return true;
  }

  /** A stack that continues as any of the given ones does. */
  either(list: readonly Stack[], depth = 0): Stack {
    const joined = this.join(list, depth);
    return joined.length === 1
      ? joined[0]!
      : this.#stacks.push(EITHER.frame(this.#stacks.setOf(joined)), BOTTOM);
  }
}
