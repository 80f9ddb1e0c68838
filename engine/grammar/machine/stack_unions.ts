// Ambiguous grammars have many stacks that differ only further down. Those with equal top frames
// become one stack above any of what is below them, all the way down, so that their number stays
// small (after Tomita, "Efficient Parsing for Natural Language", 1985).

import { BOTTOM, Kind, type Stack, type Stacks } from "./stacks.ts";

/** Frames that are gone through; stacks that differ only further down stay apart. */
const MAX_DEPTH = 200;

/** Joins stacks of one collection. */
export class StackUnions {
  readonly #stacks: Stacks;
  /** By the set of what is joined. */
  readonly #joined = new Map<number, readonly Stack[]>();

  constructor(stacks: Stacks) {
    this.#stacks = stacks;
  }

  /** As few stacks that go on as the given ones do. */
  join(list: readonly Stack[], depth = 0): readonly Stack[] {
    if (list.length === 1 && this.#stacks.kind(list[0]!) !== Kind.EITHER) return list;
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
    const groups = new Map<number, Stack[]>();
    const add = (stack: Stack) => {
      const group = groups.get(stacks.topOf(stack));
      if (!group) groups.set(stacks.topOf(stack), [stack]);
      else if (!group.includes(stack)) group.push(stack);
    };
    for (const stack of list) {
      if (stacks.kind(stack) === Kind.EITHER) stacks.members(stack).forEach(add);
      else add(stack);
    }
    return [...groups.values()].flatMap((group) => {
      const [first] = group as [Stack];
      const kind = stacks.kind(first);
      // Within documents, frames rely on those below them.
      const isJoinable = kind === Kind.TEXT || kind === Kind.PLACE || kind === Kind.END;
      if (group.length === 1 || !isJoinable || depth > MAX_DEPTH) return group;
      const below = this.either(group.map((stack) => stacks.parent(stack)), depth + 1);
      return stacks.push(stacks.frame(first), below);
    });
  }

  /** One stack that goes on as any of the given ones does. */
  either(list: readonly Stack[], depth = 0): Stack {
    const joined = this.join(list, depth);
    return joined.length === 1
      ? joined[0]!
      : this.#stacks.push([Kind.EITHER, this.#stacks.setOf(joined)], BOTTOM);
  }
}
