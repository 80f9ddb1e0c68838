// Hearing: what files tell about a model's audio encoder, how it is loaded, and how a sound becomes rows
// of embeddings in a prompt.

export { loadSoundEncoder, SoundEncoder, type SoundEncoderOptions } from "./encoder.ts";
export { readHearingHeader } from "./header.ts";
