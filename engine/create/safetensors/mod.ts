// Converting models of Hugging Face's layout to GGUF.

export { ConversionError } from "./conversion_error.ts";
export { type ConvertOptions, convertSafetensors } from "./convert_safetensors.ts";
