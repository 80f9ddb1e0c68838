// The engine's own protocol: what a model is asked, what it answers, and how it is loaded.

export type * from "./cache.ts";
export type * from "./choice.ts";
export type * from "./decisions.ts";
export type * from "./events.ts";
export type * from "./hooks.ts";
export type * from "./load_options.ts";
export type * from "./lora.ts";
export type * from "./model.ts";
export {
  type ArgumentOf,
  askModel,
  MODEL_METHODS,
  type ModelMethod,
  type ModelMethods,
  modelMethods,
} from "./model_methods.ts";
export {
  ANSWER_OPTIONS,
  LOAD_OPTIONS,
  optionHelp,
  type OptionInfo,
  OPTIONS,
  type OptionTypes,
  SAMPLING_OPTIONS,
  TOKEN_OPTIONS,
  UNUSED_PARAMETERS,
} from "./options.ts";
export type * from "./requests.ts";
export type * from "./speech.ts";
