// MP3 (ISO/IEC 11172-3 and 13818-3, Layer III): a file as frames, which begin wherever their headers are,
// and frames as samples. A damaged frame is silent, as in all players, because such files are many.

import { AudioError, checkSound, type SoundReader } from "../../audio.ts";
import type { SoundInput } from "../../input.ts";
import { BitReader } from "../bit_reader.ts";
import {
  DAMAGED,
  type FrameHeader,
  GRANULE,
  granulesOf,
  readHeader,
  readSideInfo,
  readTag,
} from "./frame.ts";
import { type ChannelSpectrum, joinChannels, readChannel } from "./granule.ts";
import { Synthesis } from "./hybrid.ts";

/** Most bytes of a frame, and bytes that are searched for a header at once. */
const [MOST_FRAME, SEARCHED] = [1441, 64 * 2 ** 10];

/** Most bytes without a frame at the beginning, and most bytes of earlier frames that a frame may need. */
const [MOST_JUNK, MOST_BACK] = [64 * 2 ** 10, 511];

/** The byte of the first frame; undefined: the file is no MP3. */
export function findMp3(file: SoundInput): number | undefined {
  let at = 0;
  while (file.text(at, 3) === "ID3" && at + 10 < file.size) at += tagSize(file.read(at, 10));
  return findFrame(file, at, Math.min(file.size, at + MOST_JUNK));
}

/** Bytes of a tag ID3v2, in which seven bits of each byte count. */
function tagSize(header: Uint8Array): number {
  const size = header.subarray(6, 10).reduce((size, byte) => size * 128 + (byte & 0x7f), 0);
  return 10 + size + (header[5] & 0x10 ? 10 : 0);
}

/** The first frame from a byte on that another follows, or the end of the file. */
function findFrame(
  file: SoundInput,
  from: number,
  to: number,
  like?: FrameHeader,
): number | undefined {
  for (let at = from; at < to; at += SEARCHED) {
    const bytes = file.read(at, SEARCHED + 3);
    for (let i = bytes.indexOf(0xff); i >= 0 && i < SEARCHED; i = bytes.indexOf(0xff, i + 1)) {
      const header = readHeader(bytes.subarray(i, i + 4));
      if (!header || like && !isAlike(header, like)) continue;
      const end = at + i + header.size;
      const next = readHeader(file.read(end, 4));
      if (end === file.size || next && isAlike(header, next)) return at + i;
    }
  }
}

function isAlike(a: FrameHeader, b: FrameHeader): boolean {
  return a.isMpeg1 === b.isMpeg1 && a.rate === b.rate;
}

/** Opens an MP3 file. Errors: AudioError. @param first the byte of its first frame */
export function openMp3(file: SoundInput, first: number): SoundReader {
  const header = readHeader(file.read(first, 4))!;
  const tag = readTag(file.read(first, header.size), header);
  checkSound("MP3", header.rate, header.channels);
  return {
    format: "MP3",
    rate: header.rate,
    channels: header.channels,
    length: tag?.length,
    *blocks() {
      const decoder = new Mp3Decoder();
      let skip = tag?.skip ?? 0;
      let left = tag?.length ?? Infinity;
      for (const frame of framesOf(file, tag ? first + header.size : first, header)) {
        if (!frame) {
          yield [];
          continue;
        }
        const samples = decoder.decode(frame.bytes, frame.header);
        const begin = Math.min(skip, samples[0].length);
        skip -= begin;
        const block = samples.map((own) => own.subarray(begin, begin + left));
        left -= block[0].length;
        yield block;
      }
    },
  };
}

/** The frames of a file; `undefined` where there are none for long. */
function* framesOf(
  file: SoundInput,
  first: number,
  like: FrameHeader,
): Generator<{ bytes: Uint8Array; header: FrameHeader } | undefined, void> {
  for (let at = first; at < file.size;) {
    const bytes = file.read(at, MOST_FRAME + 1);
    const header = readHeader(bytes);
    if (header && isAlike(header, like)) {
      // The last frame of a recording that was broken off lacks its end.
      if (bytes.length < header.size) return;
      yield { bytes: bytes.subarray(0, header.size), header };
      at += header.size;
      continue;
    }
    yield undefined;
    at = findFrame(file, at, Math.min(at + SEARCHED, file.size), like) ?? at + SEARCHED;
  }
}

/** Decodes frames one after the other. */
class Mp3Decoder {
  readonly #syntheses = [new Synthesis(), new Synthesis()];
  /** The end of the main data so far, of which the next frame may need some. */
  #kept = new Uint8Array();

  /** The samples of a frame, for each of its channels: some files have frames with one and with two. */
  decode(frame: Uint8Array, header: FrameHeader): Float32Array[] {
    const samples = Array.from(
      { length: header.channels },
      () => new Float32Array(GRANULE * granulesOf(header)),
    );
    try {
      for (const [granule, spectra] of this.#read(frame, header).entries()) {
        for (const [channel, spectrum] of spectra.entries()) {
          samples[channel].set(this.#syntheses[channel].next(spectrum), granule * GRANULE);
        }
      }
    } catch (error) {
      if (!(error instanceof AudioError)) throw error;
      for (const own of samples) own.fill(0);
    }
    return samples;
  }

  /** The spectra: [granules][channels]. */
  #read(frame: Uint8Array, header: FrameHeader): ChannelSpectrum[][] {
    const { back, shared, granules } = readSideInfo(frame, header);
    const kept = this.#kept;
    const own = frame.subarray(header.headBytes);
    const data = new Uint8Array(kept.length + own.length);
    data.set(kept);
    data.set(own, kept.length);
    this.#kept = data.slice(-MOST_BACK);
    if (back > kept.length) throw new AudioError(DAMAGED);
    const reader = new BitReader(data.subarray(kept.length - back), DAMAGED);
    const spectra: ChannelSpectrum[][] = [];
    for (const infos of granules) {
      const channels = infos.map((info, channel) =>
        readChannel(reader, header, info, {
          isRight: channel === 1,
          shared: shared[channel],
          first: spectra[0]?.[channel],
        })
      );
      const [left, right] = channels;
      if (right) joinChannels(header, left!, right);
      spectra.push(channels);
    }
    return spectra;
  }
}
