// What a pattern of another dialect than ECMA-262 means: the texts in which all dialects find a match. Where they
// differ about a part, such as the letters of \w, a match has to hold for all of them; within a negative
// look-around, one that any of them finds is in the way.

import {
  choiceNode,
  lookNode,
  type PatternNode,
  repeatNode,
  sequenceNode,
} from "./pattern_node.ts";

/** A part about which dialects differ. @param any what any of them finds, instead of what all do */
export function differingNode(all: PatternNode, any: PatternNode): PatternNode {
  return { ...all, any };
}

/** A pattern with one meaning for each part. @param isWide whether to find what any dialect finds */
export function inAllDialects(node: PatternNode, isWide = false): PatternNode {
  if (node.any) return isWide ? node.any : node;
  const inner = (part: PatternNode) => inAllDialects(part, isWide);
  switch (node.kind) {
    case "sequence":
      return sequenceNode(node.items.map(inner));
    case "choice":
      return choiceNode(node.items.map(inner));
    case "repeat":
      return repeatNode(inner(node.body), node.from, node.to, node.isLazy);
    case "look":
      return lookNode(node.back, node.not, inAllDialects(node.body, isWide !== node.not));
    default:
      return node;
  }
}
