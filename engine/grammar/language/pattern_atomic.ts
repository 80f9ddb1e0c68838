// Atomic groups and possessive quantifiers of PCRE, Java and Python: they give nothing back of what they matched
// first. Where that is only one text, or the longest run of something, it is a plain pattern with a
// look-ahead behind it; the rest is not read.

import {
  choiceNode,
  lookNode,
  type PatternNode,
  repeatNode,
  sequenceNode,
} from "./pattern_node.ts";

/** A node that gives nothing back; undefined if that cannot be said plainly. */
export function atomicNode(node: PatternNode): PatternNode | undefined {
  // What always takes the same number of characters can give nothing back.
  if (node.min === node.max) return node;
  switch (node.kind) {
    case "repeat":
      return longest(node);
    case "sequence": {
      const [last, before] = [node.items.at(-1)!, node.items.slice(0, -1)];
      const end = before.every(isFixed) ? atomicNode(last) : undefined;
      return end && sequenceNode([...before, end]);
    }
    case "choice": {
      // The first alternative that matches is the only one.
      const options = node.items.map((item, index) => {
        const earlier = node.items.slice(0, index).map((other) => lookNode(false, true, other));
        const option = atomicNode(item);
        return option && sequenceNode([...earlier, option]);
      });
      return options.every((option) => option !== undefined) ? choiceNode(options) : undefined;
    }
    default:
      return undefined;
  }
}

/** As many repetitions as there are, or as few as there may be. */
function longest(node: PatternNode & { kind: "repeat" }): PatternNode | undefined {
  const { body, from, to, isLazy } = node;
  if (!isFixed(body)) return undefined;
  if (isLazy) return repeatNode(body, from, from);
  const noMore = lookNode(false, true, body);
  if (to === Infinity) return sequenceNode([repeatNode(body, from, to), noMore]);
  return choiceNode([
    repeatNode(body, to, to),
    sequenceNode([repeatNode(body, from, to - 1), noMore]),
  ]);
}

function isFixed({ min, max }: PatternNode): boolean {
  return min === max;
}
