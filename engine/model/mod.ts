// A loaded model: its chats, completions, embeddings and tokens, in the thread of its device.

export {
  type ModelProfile,
  type OperationSum,
  type PhaseProfile,
  profileModel,
  type ProfileOptions,
  sumOperations,
} from "./profile.ts";
export { measurePerplexity, type Perplexity, type PerplexityOptions } from "./perplexity.ts";
export { adapterScales, describeAdapters } from "./adapters.ts";
export { type DeviceVerdict, proveModel } from "./prove_model.ts";
export { loadModel } from "./load_model.ts";
export type { LocalLoadOptions, Model } from "./model.ts";
