// Hearing: what files tell about a model's audio encoder, how it is loaded, and how a sound becomes rows
// of embeddings in a prompt.

export { loadSoundEncoder, SoundEncoder, type SoundEncoderOptions } from "./encoder.ts";
export { hasAudioEncoder } from "./header.ts";
export {
  checkHearing,
  findHearing,
  hearingFault,
  type LoadedHearing,
  loadHearing,
  provedHearing,
} from "./load_hearing.ts";
