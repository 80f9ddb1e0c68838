// Kernels as the tuner knows them: what the tests of choices and of the tuner begin with.

import type { ExpertsCase, ProductCase } from "../../kernels/mod.ts";

/** A product of an 8B model. */
export const PRODUCT: ProductCase = {
  kernel: "product",
  format: "Q4_K",
  rows: 4096,
  columns: 4096,
  sides: 1,
  integer: true,
  quantized: false,
  tokens: 1,
};

/** A product of a mixture of 128 experts. */
export const EXPERTS: ExpertsCase = {
  ...{ kernel: "experts", format: "Q4_K", rows: 768, columns: 2048, sides: 1, integer: true },
  ...{ quantized: false, experts: 128, topK: 8, perPair: true, density: 1, cols: 1 },
};
