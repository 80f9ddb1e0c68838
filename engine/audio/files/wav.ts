// WAV: PCM of 8 to 32 bits, floats of 32 and 64 bits, A-law and mu-law, also in the "extensible" form
// and in RF64, whose sizes have 64 bits. The format: "Multiple Channel Audio Data and WAVE Files"
// (Microsoft), EBU Tech 3306 for RF64, ITU-T G.711 for the two laws.

import { AudioError, checkSound, type SoundReader } from "../audio.ts";
import type { SoundInput } from "../input.ts";

/** The numbers of `wFormatTag`. */
const PCM = 1;
const FLOAT = 3;
const A_LAW = 6;
const MU_LAW = 7;
const EXTENSIBLE = 0xfffe;

/** Names of formats that are not supported, for people. */
const OTHERS: Readonly<Record<number, string>> = {
  2: "Microsoft ADPCM",
  0x11: "IMA ADPCM",
  0x31: "GSM 6.10",
  0x50: "MPEG audio",
  0x55: "MP3",
};

/** Bytes of the chunk "fmt " that say something. */
const MOST_FORMAT = 40;

/** Samples of each channel in a block. */
const BLOCK_SAMPLES = 8192;

/** Reads the sample at a byte. */
type ReadSample = (view: DataView, at: number) => number;

/** Whether a file begins like WAV. */
export function isWav(file: SoundInput): boolean {
  return /^(RIFF|RF64|BW64)[^]{4}WAVE$/.test(file.text(0, 12));
}

/** Opens a WAV file. Errors: AudioError. */
export function openWav(file: SoundInput): SoundReader {
  const { format, data } = findChunks(file);
  const { rate, channels, sampleBytes, read } = readFormat(format);
  const frameBytes = channels * sampleBytes;
  const length = Math.floor(data.size / frameBytes);
  return {
    format: "WAV",
    rate,
    channels,
    length,
    *blocks() {
      const all = Array.from({ length: channels }, () => new Float32Array(BLOCK_SAMPLES));
      for (let first = 0; first < length; first += BLOCK_SAMPLES) {
        const count = Math.min(BLOCK_SAMPLES, length - first);
        const block = all.map((samples) => samples.subarray(0, count));
        const frames = file.view(data.at + first * frameBytes, count * frameBytes);
        for (let i = 0, at = 0; i < count; i++) {
          for (let channel = 0; channel < channels; channel++, at += sampleBytes) {
            block[channel][i] = read(frames, at);
          }
        }
        yield block;
      }
    },
  };
}

/** The chunk with the format, and where the one with the samples lies. */
function findChunks(file: SoundInput): { format: DataView; data: { at: number; size: number } } {
  const is64 = file.text(0, 4) !== "RIFF";
  let format: DataView | undefined;
  let longSize: number | undefined;
  for (let at = 12; at + 8 <= file.size;) {
    const name = file.text(at, 4);
    const size = file.view(at + 4, 4).getUint32(0, true);
    const first = at + 8;
    const there = file.size - first;
    if (name === "data") {
      if (!format) throw new AudioError(`its WAV header lacks the chunk "fmt " before its samples`);
      // What writes to a pipe cannot know the size, and says 0 or the largest number.
      const isOpen = size === 0 || size >= 0x7fff_0000;
      const said = is64 && size === 0xffff_ffff ? longSize : isOpen ? there : size;
      if (said === undefined) throw new AudioError(`its RF64 header lacks the chunk "ds64"`);
      if (said > there) {
        throw new AudioError(
          `the WAV file has ${there} of its ${said} bytes of samples: it is incomplete`,
        );
      }
      return { format, data: { at: first, size: said } };
    }
    if (size > there) {
      throw new AudioError(`the WAV file ends within its chunk ${JSON.stringify(name)}`);
    }
    if (name === "fmt ") format = file.view(first, Math.min(size, MOST_FORMAT));
    if (name === "ds64" && size >= 16) {
      longSize = Number(file.view(first + 8, 8).getBigUint64(0, true));
    }
    at = first + size + size % 2;
  }
  throw new AudioError('the WAV file has no samples: its chunk "data" is missing');
}

/** What the chunk "fmt " says. */
function readFormat(
  chunk: DataView,
): { rate: number; channels: number; sampleBytes: number; read: ReadSample } {
  if (chunk.byteLength < 16) {
    throw new AudioError(`its chunk "fmt " has ${chunk.byteLength} bytes, at least 16 are needed`);
  }
  const [tag, channels, rate] = [
    chunk.getUint16(0, true),
    chunk.getUint16(2, true),
    chunk.getUint32(4, true),
  ];
  const [frameBytes, bits] = [chunk.getUint16(12, true), chunk.getUint16(14, true)];
  // The extensible form has the tag in the first bytes of a GUID.
  const format = tag === EXTENSIBLE && chunk.byteLength >= 26 ? chunk.getUint16(24, true) : tag;
  checkSound("WAV", rate, channels);
  const sampleBytes = Math.ceil(bits / 8);
  const read = readerOf(format, sampleBytes);
  if (frameBytes !== channels * sampleBytes) {
    throw new AudioError(
      `its WAV header contradicts itself: ${channels} channels of ${bits} bits do not make ` +
        `${frameBytes} bytes`,
    );
  }
  return { rate, channels, sampleBytes, read };
}

function readerOf(format: number, bytes: number): ReadSample {
  switch (`${format} ${bytes}`) {
    case `${PCM} 1`:
      return (view, at) => (view.getUint8(at) - 128) / 2 ** 7;
    case `${PCM} 2`:
      return (view, at) => view.getInt16(at, true) / 2 ** 15;
    case `${PCM} 3`:
      return (view, at) => (view.getInt8(at + 2) * 2 ** 16 + view.getUint16(at, true)) / 2 ** 23;
    case `${PCM} 4`:
      return (view, at) => view.getInt32(at, true) / 2 ** 31;
    case `${FLOAT} 4`:
      return (view, at) => view.getFloat32(at, true);
    case `${FLOAT} 8`:
      return (view, at) => view.getFloat64(at, true);
    case `${A_LAW} 1`:
      return (view, at) => fromALaw(view.getUint8(at));
    case `${MU_LAW} 1`:
      return (view, at) => fromMuLaw(view.getUint8(at));
  }
  const name = OTHERS[format] ?? `format ${format} with ${8 * bytes} bits`;
  throw new AudioError(
    `${name} in a WAV file is not supported, only PCM of 8, 16, 24 or 32 bits, floats of 32 or 64 ` +
      `bits, A-law and mu-law`,
  );
}

/** A value of G.711's A-law: sign, three bits of exponent, four of mantissa, every other bit inverted. */
function fromALaw(code: number): number {
  const bits = code ^ 0x55;
  const [exponent, mantissa] = [bits >> 4 & 7, bits & 15];
  const size = exponent === 0 ? 2 * mantissa + 1 : (2 * mantissa + 33) * 2 ** (exponent - 1);
  return (bits & 0x80 ? size : -size) * 8 / 2 ** 15;
}

/** A value of G.711's mu-law: the same parts, all bits inverted, and an offset of 33. */
function fromMuLaw(code: number): number {
  const bits = ~code & 0xff;
  const [exponent, mantissa] = [bits >> 4 & 7, bits & 15];
  const size = (2 * mantissa + 33) * 2 ** exponent - 33;
  return (bits & 0x80 ? -size : size) * 4 / 2 ** 15;
}
