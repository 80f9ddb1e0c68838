// A loaded model: chats, completions, embeddings and tokens of it, in the thread of its device.

export { loadModel, type LocalLoadOptions, type Model } from "./model.ts";
