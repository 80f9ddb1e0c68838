// to be written
import type { FloatRows, Norm } from "../../kernels/mod.ts";
import type { Layer } from "./layer.ts";
import type { Input } from "./network.ts";
export interface ExpertsConfig {
  normalize?: boolean;
}
export interface ExpertsBlock {
  readers: readonly never[];
  add(x: Input, y: FloatRows, postNorm?: Norm): void;
}
export function loadExperts(_layer: Layer, _config: ExpertsConfig): Promise<ExpertsBlock> {
  throw new Error("not yet");
}
