// Quantizing models: from a GGUF file of floats to one of quantized blocks.

export { getsMoreBits, parseQuantization, type QuantizationName } from "./tensor_formats.ts";
export { quantizeModel, type QuantizeOptions } from "./quantize_model.ts";
