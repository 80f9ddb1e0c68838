// Converting model folders of Hugging Face to GGUF, and the names for the reverse.

export { ConversionError } from "../../errors.ts";
export { type ConvertOptions, convertSafetensors } from "./convert_safetensors.ts";
export { storedName } from "./stored_model.ts";
export { PieceKind } from "./vocabulary.ts";
