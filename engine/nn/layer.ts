// A layer of a model that is being loaded: its weights, and the blocks that many architectures
// share.

import { type AttentionBlock, type AttentionConfig, loadAttention } from "./attention.ts";
import { type ExpertsBlock, type ExpertsConfig, loadExperts } from "./experts.ts";
import { type FeedForwardBlock, type FeedForwardConfig, loadFeedForward } from "./feed_forward.ts";
import {
  type LatentAttentionBlock,
  type LatentAttentionConfig,
  loadLatentAttention,
} from "./latent_attention.ts";
import {
  type DeltaBlock,
  type GatedDeltaConfig,
  loadGatedDelta,
  loadKimiDelta,
  loadMamba,
  loadMamba2,
  loadShortConvolution,
  type Mamba2Block,
  type Mamba2Config,
  type MambaBlock,
  type MambaConfig,
  type ShortConvolutionBlock,
} from "./recurrent/mod.ts";
import { LayerWeights } from "./layer_weights.ts";

/** Tensors that only recurrent layers have, and tensors that only layers with experts have. */
const RECURRENT = ["ssm_in", "ssm_conv1d", "ssm_conv1d_k", "ssm_out", "shortconv.conv"]
  .flatMap((name) => [`${name}.weight`, `${name}.bias`])
  .concat("ssm_a", "ssm_dt.bias", "shortconv.in_proj.weight", "shortconv.out_proj.weight");
const EXPERTS = ["gate_inp", "down_exps", "up_exps", "gate_exps", "gate_up_exps"]
  .map((name) => `ffn_${name}.weight`);

/** One layer. With an empty prefix, what belongs to no layer. */
export class Layer extends LayerWeights {
  /** Whether it keeps a state instead of keys and values, according to the names of its weights. */
  get isRecurrent(): boolean {
    return this.hasAny(RECURRENT);
  }

  /** Whether it has experts, according to the names of its weights. */
  get hasExperts(): boolean {
    return this.hasAny(EXPERTS);
  }

  /** Attention over the paged cache. */
  attention(config: AttentionConfig): Promise<AttentionBlock> {
    return loadAttention(this, config);
  }

  /** Multi-head latent attention. */
  latentAttention(config: LatentAttentionConfig): Promise<LatentAttentionBlock> {
    return loadLatentAttention(this, config);
  }

  /** A dense feed-forward block. */
  feedForward(config: FeedForwardConfig = {}): Promise<FeedForwardBlock> {
    return loadFeedForward(this, config);
  }

  /** A mixture of experts. */
  experts(config: ExpertsConfig = {}): Promise<ExpertsBlock> {
    return loadExperts(this, config);
  }

  /** A gated short convolution. */
  shortConvolution(): Promise<ShortConvolutionBlock> {
    return loadShortConvolution(this);
  }

  /** The mixer of Mamba. */
  mamba(config: MambaConfig = {}): Promise<MambaBlock> {
    return loadMamba(this, config);
  }

  /** The mixer of Mamba 2. */
  mamba2(config: Mamba2Config = {}): Promise<Mamba2Block> {
    return loadMamba2(this, config);
  }

  /** A Gated DeltaNet. */
  gatedDelta(config: GatedDeltaConfig = {}): Promise<DeltaBlock> {
    return loadGatedDelta(this, config);
  }

  /** Kimi Delta Attention. */
  kimiDelta(): Promise<DeltaBlock> {
    return loadKimiDelta(this);
  }
}
