// Converting models of Hugging Face's layout to GGUF, and what it takes to undo it.

export { ConversionError } from "../../errors.ts";
export { type ConvertOptions, convertSafetensors } from "./convert_safetensors.ts";
export { storedName } from "./tensor_names.ts";
export { PieceKind } from "./vocabulary.ts";
