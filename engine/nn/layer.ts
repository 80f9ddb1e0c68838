// A layer of a model while it is loaded: its weights by their names without `blk.N.`, and the blocks
// that many architectures share, made of them.

import type { Norm } from "../../kernels/mod.ts";
import type { StackOptions } from "../affine.ts";
import type { Rows } from "../rows.ts";
import type { Stack, WeightLoader } from "../weights.ts";
import { type AttentionBlock, type AttentionConfig, loadAttention } from "./attention.ts";
import type { Config } from "./config.ts";
import { type ExpertsBlock, type ExpertsConfig, loadExperts } from "./experts.ts";
import { type FeedForwardBlock, type FeedForwardConfig, loadFeedForward } from "./feed_forward.ts";
import { type LatentAttentionBlock, loadLatentAttention } from "./latent_attention.ts";
import type { LatentAttentionConfig } from "./latent_attention.ts";
import type { Network } from "./network.ts";
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
  type ShortConvolutionBlock,
} from "./recurrent/mod.ts";

/** One layer, or with an empty prefix what belongs to none. */
export class Layer {
  constructor(
    readonly network: Network,
    readonly weights: WeightLoader,
    readonly config: Config,
    /** From 0 on. */
    readonly index: number,
    readonly prefix = `blk.${index}.`,
  ) {}

  /** The full GGUF name of a tensor. */
  name(tensor: string): string {
    return this.prefix + tensor;
  }

  /** Whether the layer has a tensor. */
  has(tensor: string): boolean {
    return this.weights.has(this.name(tensor));
  }

  /** A small tensor as f32 on the GPU, padded with zeros to whole groups. */
  vector(tensor: string, gain?: number): GPUBuffer {
    return this.weights.vector(this.name(tensor), gain);
  }

  /** Rows of a tensor of this layer, for {@linkcode Layer.stack}. */
  rows(tensor: string, first: number, count: number): Rows {
    return { name: this.name(tensor), ranges: [[first, count]] };
  }

  /** One matrix of the rows of tensors, in order. A string is the whole tensor. */
  stack(tensors: readonly Rows[], columns: number, options?: StackOptions): Promise<Stack> {
    const named = tensors.map((rows) => typeof rows === "string" ? this.name(rows) : rows);
    return this.weights.stack(named, columns, options);
  }

  /** A norm: `<tensor>.weight` and, where it is there, `<tensor>.bias`, times `gain`. */
  norm(tensor: string, kind: "rms" | "layer" = "rms", gain = 1): Norm {
    const bias = this.has(`${tensor}.bias`);
    // A few files name the weight of a norm without ".weight".
    const weight = this.has(`${tensor}.weight`) ? `${tensor}.weight` : tensor;
    return {
      kind,
      epsilon: this.config.epsilon(kind),
      weight: this.vector(weight, gain),
      ...(bias ? { bias: this.vector(`${tensor}.bias`, gain) } : {}),
    };
  }

  /** Attention over the paged cache. */
  attention(config: AttentionConfig, columns = this.config.width): Promise<AttentionBlock> {
    return loadAttention(this, config, columns);
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
  mamba(): Promise<MambaBlock> {
    return loadMamba(this);
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
