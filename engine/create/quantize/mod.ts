// Quantizing models: from a GGUF file of floats to one of quantized blocks.

export { parseQuantization, type QuantizationName } from "./quantization.ts";
export { quantizeModel, type QuantizeOptions } from "./quantize_model.ts";
export { getsMoreBits } from "./tensor_formats.ts";
