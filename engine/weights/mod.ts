// The weights of a file as a model asks for them: read from its tensors by name and full shape, with
// what adapters (LoRA) add, laid out for the device. Which weights there have to be, models say.

export { Adapter } from "./adapter.ts";
export { loadAffine, type StackOptions } from "./affine.ts";
export { type Placement, wholeOn } from "./placement.ts";
export { baseOf, type Rows, rowsOfEach } from "./rows.ts";
export { layerOf, OF_ENCODERS, OF_TILES } from "./tensor_inventory.ts";
export { type GatedStack, type Stack, WeightLoader } from "./weights.ts";
