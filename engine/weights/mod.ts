// The weights of a file, as a model requests them: read from its tensors by name and full shape,
// with LoRA adapters, in the layout of the device. Models decide which weights there must be.

export { Adapter, MOST_ADAPTERS } from "./adapter.ts";
export { loadAffine, type StackOptions } from "./affine.ts";
export { type Placement, wholeOn } from "./tensor_source.ts";
export { baseOf, type Rows, rowsOfEach } from "./rows.ts";
export { layerOf, OF_ENCODERS, OF_TILES } from "./tensor_inventory.ts";
export {
  type AdaptedRows,
  type GatedStack,
  type Stack,
  WeightLoader,
  type WeightOptions,
} from "./weights.ts";
