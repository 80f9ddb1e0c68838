// The mixes of formats that models can be quantized to, by the names that llama.cpp and Ollama use.
// Which tensor gets which format in a mix is tensor_formats.ts.

import { RequestError } from "../../errors.ts";

/** For each mix, the format of most of its tensors. */
export const BASE_FORMATS = {
  F32: "F32",
  F16: "F16",
  BF16: "BF16",
  Q8_0: "Q8_0",
  Q4_0: "Q4_0",
  Q4_K_S: "Q4_K",
  Q4_K_M: "Q4_K",
} as const;

/** A mix of formats that a model can be quantized to. */
export type QuantizationName = keyof typeof BASE_FORMATS;

/** Of two mixes with the same formats, the one that is meant without a size. */
const ALIASES: Readonly<Record<string, QuantizationName>> = { Q4_K: "Q4_K_M" };

/** The mix of that name, in capitals or not. Errors: RequestError naming those that there are. */
export function parseQuantization(text: string): QuantizationName {
  const name = text.trim().toUpperCase();
  if (Object.hasOwn(BASE_FORMATS, name)) return name as QuantizationName;
  if (Object.hasOwn(ALIASES, name)) return ALIASES[name];
  const supported = Object.keys(BASE_FORMATS).join(", ");
  throw new RequestError(
    `unsupported quantization type ${text} - supported types are ${supported}`,
  );
}
