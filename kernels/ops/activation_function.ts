// The activation functions of feed-forward blocks: their names and plain references.

/**
 * The functions. "gelu" is the tanh form (Hendrycks and Gimpel 2016), "quick_gelu" is x *
 * sigmoid(1.702 x) of the same paper, "relu_squared" is from Primer (So et al. 2021),
 * "clamped_swish" is from gpt-oss: inputs are at most 7, and a gated block adds one to `up`.
 */
export type ActivationFunction =
  | "silu"
  | "gelu"
  | "quick_gelu"
  | "relu"
  | "relu_squared"
  | "clamped_swish";

export const ACTIVATION_FUNCTIONS: readonly ActivationFunction[] = [
  ...["silu", "gelu", "quick_gelu"] as const,
  ...["relu", "relu_squared", "clamped_swish"] as const,
];

/** The options of activate(), which applies a function outside of a product. */
export interface ActivateOptions {
  activation: ActivationFunction;
  /** Whether x is gate and up: f(gate) * up instead of f(x). */
  gated: boolean;
}

/** The plain reference of a function. */
export function activateReference(name: ActivationFunction, x: number): number {
  switch (name) {
    case "silu":
      return x / (1 + Math.exp(-x));
    case "gelu":
      // x / 2 * (1 + tanh(u)), in a form without cancellation where tanh is near -1.
      return x / (1 + Math.exp(-2 * Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3)));
    case "quick_gelu":
      return x / (1 + Math.exp(-1.702 * x));
    case "relu":
      return Math.max(x, 0);
    case "relu_squared":
      return Math.max(x, 0) ** 2;
    case "clamped_swish":
      return Math.min(x, 7) / (1 + Math.exp(-1.702 * Math.min(x, 7)));
  }
}

/** The plain reference of f(gate) * up. */
export function gateReference(name: ActivationFunction, x: number, up: number): number {
  const factor = name === "clamped_swish" ? Math.max(-7, Math.min(7, up)) + 1 : up;
  return activateReference(name, x) * factor;
}
