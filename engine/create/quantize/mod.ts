// Quantizing models: a GGUF file of floats becomes one of blocks.

export { parseQuantization, type QuantizationName } from "./quantization.ts";
export { quantizeModel, type QuantizeOptions } from "./quantize_model.ts";
