// The mixes of formats to which models can be quantized, by the names of llama.cpp and Ollama.
// tensor_formats.ts chooses the format of each tensor.

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

/** Name of a mix. */
export type QuantizationName = keyof typeof BASE_FORMATS;

/** For names without a size, the mix that is meant. */
const ALIASES: Readonly<Record<string, QuantizationName>> = { Q4_K: "Q4_K_M" };

/** The mix of that name, in any case. Errors: RequestError listing the names. */
export function parseQuantization(text: string): QuantizationName {
  const name = text.trim().toUpperCase();
  if (Object.hasOwn(BASE_FORMATS, name)) return name as QuantizationName;
  if (Object.hasOwn(ALIASES, name)) return ALIASES[name];
  const supported = Object.keys(BASE_FORMATS).join(", ");
  throw new RequestError(
    `unsupported quantization type ${text} - supported types are ${supported}`,
  );
}
