// The activation functions of feed-forward blocks in WGSL.

import source from "./activation_function.wgsl" with { type: "text" };
import type { ActivationFunction } from "../ops/activation_function.ts";

/** The constants and the snippet that define `activate(x)` and `gate(x, up)` in a kernel. */
export function activationFunction(name: ActivationFunction): {
  constants: Record<string, boolean>;
  snippet: string;
} {
  return {
    constants: {
      SILU: name === "silu",
      GELU: name === "gelu",
      QUICK_GELU: name === "quick_gelu",
      RELU: name === "relu",
      RELU_SQUARED: name === "relu_squared",
      CLAMPED_SWISH: name === "clamped_swish",
    },
    snippet: source,
  };
}
