// The kernels of well-known models, for a device that is tuned before any model was loaded on it.

import {
  type Capabilities,
  type KernelCase,
  type ProductCase,
  typesOf,
} from "../../kernels/mod.ts";

/** Numbers of tokens of decoding, of a batch, and of a prompt. */
const TOKENS = [1, 8, 256];

/** A model's layers: of 8B as Llama 3 has them, and of 0.6B as Qwen 3. */
const MODELS = [
  { format: "Q4_K", width: 4096, inner: 14336, heads: 32, kvHeads: 8, headDim: 128 },
  { format: "Q8_0", width: 1024, inner: 3072, heads: 16, kvHeads: 8, headDim: 128 },
];

/** Pairs that share an expert in a prompt. */
const PROMPT_DENSITY = 16;

/** The experts of a layer of Qwen 3 30B-A3B, whose other products are not among the above. */
const EXPERTS = { experts: 128, topK: 8, format: "Q4_K", width: 2048, inner: 768 };

/** Their products and attention, as a device with these capabilities computes them. */
export function usualKernels({ packedDot: integer }: Capabilities): KernelCase[] {
  const dense = MODELS.flatMap(
    ({ format, width, inner, heads, kvHeads, headDim }): KernelCase[] => {
      const attended = heads * headDim;
      const products: Omit<ProductCase, "kernel" | "tokens" | "format" | "integer">[] = [
        { rows: attended + 2 * kvHeads * headDim, columns: width, sides: 1, quantized: false },
        { rows: width, columns: attended, sides: 1, quantized: false },
        { rows: inner, columns: width, sides: 2, quantized: integer },
        { rows: width, columns: inner, sides: 1, quantized: false },
      ];
      return [
        ...products.flatMap((product) =>
          TOKENS.map((tokens) =>
            ({ kernel: "product", format, integer, tokens, ...product }) as const
          )
        ),
        { kernel: "attention", heads, kvHeads, headDim, ...typesOf("f16") },
      ];
    },
  );
  return [...dense, ...usualExperts(integer)];
}

function usualExperts(integer: boolean): KernelCase[] {
  const { width, inner, ...rest } = EXPERTS;
  const gated = {
    rows: inner,
    columns: width,
    sides: 2,
    quantized: integer,
    perPair: false,
  } as const;
  const down = { rows: width, columns: inner, sides: 1, quantized: false, perPair: true } as const;
  return [
    ...[gated, down].map((product) =>
      ({ kernel: "experts", ...rest, ...product, integer, density: 1, cols: 1 }) as const
    ),
    { kernel: "expert pairs", ...rest, ...gated, integer, density: PROMPT_DENSITY },
  ];
}
