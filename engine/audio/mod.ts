// Sounds: files of the usual formats to samples, and samples to the features that models hear.

export { AudioError } from "./audio.ts";
export { type DecodeOptions, decodeSound } from "./decode.ts";
export { LogMel } from "./log_mel.ts";
export {
  hannWindow,
  type MelFilter,
  melFilters,
  MelSpectrum,
  sparse,
  spectrogram,
} from "./mel_spectrum.ts";
