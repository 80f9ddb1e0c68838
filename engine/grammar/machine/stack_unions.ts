// Ambiguous grammars have many stacks that differ only further down. Those with equal top frames
// become one stack above any of what is below them, all the way down, so that their number stays
// small (after Tomita, "Efficient Parsing for Natural Language", 1985).

import { BOTTOM, Kind, type Stack, type Stacks } from "./stacks.ts";

/** Frames that are gone through; stacks that differ only further down stay apart. */
const MAX_DEPTH = 1000;

/** Joins stacks of one collection. */
export class StackUnions {
  readonly #stacks: Stacks;

  constructor(stacks: Stacks) {
    this.#stacks = stacks;
  }

  /** As few stacks that go on as the given ones do. */
  join(list: readonly Stack[], depth = 0): readonly Stack[] {
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
      const below = this.join(group.map((stack) => stacks.parent(stack)), depth + 1);
      return stacks.push(stacks.frame(first), this.#either(below));
    });
  }

  #either(list: readonly Stack[]): Stack {
    return list.length === 1
      ? list[0]!
      : this.#stacks.push([Kind.EITHER, this.#stacks.setOf(list)], BOTTOM);
  }
}
