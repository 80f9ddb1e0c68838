// The numbers of an image encoder from its metadata, `<prefix>.*`. All its norms share one epsilon,
// and what the blocks' activation is stands in flags beside the prefix.

import type { ActivationFunction } from "../../../kernels/mod.ts";
import { Config } from "../../nn/mod.ts";

/** Typed access to an encoder's metadata. All throw GgufError for a value of another type. */
export class VisionConfig extends Config {
  /** Side of a patch in pixels. */
  get patchSize(): number {
    return this.count("patch_size");
  }

  /** Patches of an image of the size that the file names; 0 if it names none. */
  get usualPatches(): number {
    return Math.floor(this.countOr("image_size", 0) / this.patchSize) ** 2;
  }

  /** What the blocks apply: `clip.use_gelu`, `clip.use_silu`, or with neither the quick form of GELU. */
  get activation(): ActivationFunction {
    const says = (flag: string) => this.metadata.optionalBoolean(`clip.${flag}`, false);
    return says("use_gelu") ? "gelu" : says("use_silu") ? "silu" : "quick_gelu";
  }

  override epsilon(): number {
    return this.numberOr("attention.layer_norm_epsilon", 1e-6);
  }
}
