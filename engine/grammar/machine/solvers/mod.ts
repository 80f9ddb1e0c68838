// The questions that need a search: which keys complete an object, and which items complete an
// array that counts them. Input and output are plain data, without stacks and bytes. All of them
// count their work, so that a mask can end them.

export {
  type CountedItems,
  type ItemRun,
  type KeysSoFar,
  type KeyWeights,
  remainingItems,
  type RemainingKeys,
  RemainingKeysSolver,
} from "./remaining_keys.ts";
