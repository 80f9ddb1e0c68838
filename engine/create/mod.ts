// Making models: parsing and writing Modelfiles, and new models from others or from files.

export { readRemoteHost, remoteConfig } from "./config.ts";
export { createModel, type CreateOptions } from "./create.ts";
export {
  formatModelfile,
  formatParameters,
  type Modelfile,
  type ModelMessage,
  type NamedControlVector,
  parseModelfile,
} from "./modelfile.ts";
export { isParameterValue, type Parameters } from "./parameters.ts";
export { parseQuantization, type QuantizationName, quantizeModel } from "./quantize/mod.ts";
export { convertSafetensors } from "./safetensors/mod.ts";
export type { CreateProgress, CreateRequest, Pull } from "./types.ts";
