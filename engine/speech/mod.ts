// Speech to text: Whisper's networks, its tokens, and how a whole sound is transcribed with them.

export { languageName, readSpecialTokens, type SpecialTokens } from "./special_tokens.ts";
export { MOST_SEQUENCES, SpeechNetwork, speechOptions } from "./speech_network.ts";
export { compressionOf, type SpeechContext, transcribe } from "./transcribe.ts";

/** The architecture of models that transcribe speech. */
const WHISPER = "whisper";

/** Whether models of an architecture transcribe speech, and do nothing else. */
export function isSpeechArchitecture(architecture: string): boolean {
  return architecture === WHISPER;
}
