// Converting files of whisper.cpp to GGUF.

export { convertBin, type ConvertBinOptions } from "./convert_bin.ts";
export { BIN_MAGIC } from "./read_bin.ts";
