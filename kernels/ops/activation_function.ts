// The activation functions of feed-forward blocks: their names and their plain form.

/**
 * "gelu" is the tanh form (Hendrycks and Gimpel 2016), "quick_gelu" x * sigmoid(1.702 x) of the same
 * paper, "relu_squared" that of Primer (So et al. 2021), "clamped_swish" that of gpt-oss: inputs at
 * most 7, and a gated block adds one to `up`.
 */
export type ActivationFunction =
  | "silu"
  | "gelu"
  | "quick_gelu"
  | "relu"
  | "relu_squared"
  | "clamped_swish";

/** All of them. */
export const ACTIVATION_FUNCTIONS: readonly ActivationFunction[] = [
  ...["silu", "gelu", "quick_gelu"] as const,
  ...["relu", "relu_squared", "clamped_swish"] as const,
];

/** How a feed-forward block without a product of its own for it applies a function. */
export interface ActivateOptions {
  activation: ActivationFunction;
  /** Whether x holds gate and up: f(gate) * up instead of f(x). */
  gated: boolean;
}

/** The function in plain numbers. */
export function activateReference(name: ActivationFunction, x: number): number {
  switch (name) {
    case "silu":
      return x / (1 + Math.exp(-x));
    case "gelu":
      // x / 2 * (1 + tanh(u)), written so that nothing cancels where tanh is near -1.
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

/** A gated block's product in plain numbers. */
export function gateReference(name: ActivationFunction, x: number, up: number): number {
  const factor = name === "clamped_swish" ? Math.max(-7, Math.min(7, up)) + 1 : up;
  return activateReference(name, x) * factor;
}
