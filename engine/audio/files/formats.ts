// The formats of sound files, told apart by their first bytes, whatever their names.

import { AudioError, type SoundReader } from "../audio.ts";
import type { SoundInput } from "../input.ts";
import { isFlac, openFlac } from "./flac.ts";
import { findMp3, openMp3 } from "./mp3/decoder.ts";
import { isOgg, openOgg } from "./ogg.ts";
import { openOpus } from "./opus.ts";
import type { PacketStream } from "./packets.ts";
import { openVorbis } from "./vorbis/decoder.ts";
import { isWav, openWav } from "./wav.ts";
import { isWebm, openWebm } from "./webm.ts";

/** Formats that are known by name alone, with what their files begin with. */
const OTHERS: readonly (readonly [name: string, begins: (text: string) => boolean])[] = [
  [
    "MP4, M4A or AAC",
    (text) => text.slice(4, 8) === "ftyp" || /^(\xff[\xf0\xf1\xf8\xf9]|ADIF)/.test(text),
  ],
  ["AIFF", (text) => /^FORM[^]{4}AIF[FC]/.test(text)],
  ["Windows Media", (text) => text.startsWith("\x30\x26\xb2\x75")],
  ["AMR", (text) => text.startsWith("#!AMR")],
];

/** Opens a sound file. Errors: AudioError if it is of no format that is supported. */
export async function openSound(file: SoundInput): Promise<SoundReader> {
  if (file.size === 0) throw new AudioError("the file is empty");
  if (isWav(file)) return openWav(file);
  if (isFlac(file)) return openFlac(file);
  if (isOgg(file)) return await openPackets(openOgg(file));
  if (isWebm(file)) return await openPackets(openWebm(file));
  const text = file.text(0, 16);
  const name = OTHERS.find(([, begins]) => begins(text))?.[0];
  const first = name ? undefined : findMp3(file);
  if (first !== undefined) return openMp3(file, first);
  throw new AudioError(
    `${
      name ?? "its format"
    } is not supported, only WAV, FLAC, MP3, Ogg and WebM; convert it, for ` +
      `example with "ffmpeg -i FILE sound.flac"`,
  );
}

async function openPackets(stream: PacketStream): Promise<SoundReader> {
  return stream.codec === "Opus" ? await openOpus(stream) : openVorbis(stream);
}
