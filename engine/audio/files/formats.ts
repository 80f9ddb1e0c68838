// The formats of sound files, told apart by their first bytes.

import { AudioError, type SoundReader } from "../audio.ts";
import { isFlac, openFlac } from "./flac.ts";
import { isWav, openWav } from "./wav.ts";

/** Formats that are known by name alone, with what their files begin with. */
const OTHERS: readonly (readonly [name: string, begins: (text: string) => boolean])[] = [
  ["Ogg", (text) => text.startsWith("OggS")],
  ["WebM or Matroska", (text) => text.startsWith("\x1a\x45\xdf\xa3")],
  ["MP4 or M4A", (text) => text.slice(4, 8) === "ftyp"],
  ["AIFF", (text) => /^FORM[^]{4}AIF[FC]/.test(text)],
  ["MP3", (text) => text.startsWith("ID3") || /^\xff[\xe2-\xff]/.test(text)],
];

/** Opens a sound file. Errors: AudioError if it is of no format that is supported. */
export function openSound(bytes: Uint8Array): SoundReader {
  if (isWav(bytes)) return openWav(bytes);
  if (isFlac(bytes)) return openFlac(bytes);
  if (bytes.length === 0) throw new AudioError("the file is empty");
  const text = String.fromCharCode(...bytes.subarray(0, 16));
  const name = OTHERS.find(([, begins]) => begins(text))?.[0];
  throw new AudioError(
    `${name ?? "its format"} is not supported, only WAV and FLAC; convert it, for example with ` +
      `"ffmpeg -i FILE sound.wav"`,
  );
}
