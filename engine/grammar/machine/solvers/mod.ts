// The questions that take a search: which keys complete an object, and which items complete an array that
// counts them. Plain data in and out: no stacks, no bytes. All count what
// they do as work, so that a mask ends them where it has none left.

export { type CountedItems, type ItemRun, remainingItems } from "./remaining_items.ts";
export {
  type KeyWeights,
  type ObjectPlace,
  type RemainingKeys,
  RemainingKeysSolver,
} from "./remaining_keys.ts";
