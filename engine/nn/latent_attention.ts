// to be written
import type { Layer } from "./layer.ts";
import type { ExpertsBlock } from "./experts.ts";
export interface LatentAttentionConfig {
  scale?: number;
}
export type LatentAttentionBlock = ExpertsBlock;
export function loadLatentAttention(
  _layer: Layer,
  _config: LatentAttentionConfig,
): Promise<LatentAttentionBlock> {
  throw new Error("not yet");
}
