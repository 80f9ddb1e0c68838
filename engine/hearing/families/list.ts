// The families of audio encoders. A new one is a file beside this one and a line here.

export { lfm2Audio, parakeet } from "./fast_conformer.ts";
export { gemma4Audio, gemma4Unified } from "./gemma4.ts";
export { graniteSpeech } from "./granite_speech.ts";
export { mimoAudio } from "./mimo_audio.ts";
export { dotsNote, qwen3Omni } from "./qwen3_omni.ts";
export { glmAsr, meralion, musicFlamingo, qwen2Audio, ultravox, voxtral } from "./whisper.ts";
