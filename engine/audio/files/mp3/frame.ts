// The frames of MP3 (ISO/IEC 11172-3, 13818-3): the header of a frame, the side information with which its
// granules are read, and the tag by which encoders tell how much at both ends is no sound.

import { BitReader } from "../bit_reader.ts";

/** What a frame's header says. */
export interface FrameHeader {
  /** Whether it is MPEG-1; otherwise MPEG-2 or 2.5, with lower rates. */
  readonly isMpeg1: boolean;
  readonly rate: number;
  readonly channels: number;
  /** Whether both channels are a middle and a side, and whether some bands have one signal. */
  readonly isMidSide: boolean;
  readonly isIntensity: boolean;
  /** Bytes of the frame, and of what comes before the main data. */
  readonly size: number;
  readonly headBytes: number;
}

/** Samples of a granule for each channel. */
export const GRANULE = 576;

/** Bits per second in thousands. */
const BIT_RATES = [
  [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
];

const RATES = [44_100, 48_000, 32_000];

/** The error of a frame whose numbers make no sense; the frame is silent then. */
export const DAMAGED = "a frame of the MP3 file is damaged";

/** Granules of a frame. */
export function granulesOf({ isMpeg1 }: FrameHeader): number {
  return isMpeg1 ? 2 : 1;
}

/** Reads the header of a frame of Layer III; undefined where there is none. */
export function readHeader(bytes: Uint8Array): FrameHeader | undefined {
  if (bytes.length < 4 || bytes[0] !== 0xff || bytes[1] < 0xe0) return undefined;
  const [version, layer] = [bytes[1] >> 3 & 3, bytes[1] >> 1 & 3];
  const [bitRate, rateCode] = [bytes[2] >> 4, bytes[2] >> 2 & 3];
  // Frames without a rate of bits tell their sizes by those that follow, and hardly exist.
  if (version === 1 || layer !== 1 || bitRate === 0 || bitRate === 15 || rateCode === 3) {
    return undefined;
  }
  const isMpeg1 = version === 3;
  const rate = RATES[rateCode] / (isMpeg1 ? 1 : version === 2 ? 2 : 4);
  const bitsPerSecond = 1000 * BIT_RATES[isMpeg1 ? 0 : 1][bitRate];
  const mode = bytes[3] >> 6;
  const channels = mode === 3 ? 1 : 2;
  const sideBytes = isMpeg1 ? (channels === 1 ? 17 : 32) : channels === 1 ? 9 : 17;
  return {
    isMpeg1,
    rate,
    channels,
    isMidSide: mode === 1 && (bytes[3] & 0x20) !== 0,
    isIntensity: mode === 1 && (bytes[3] & 0x10) !== 0,
    size: Math.floor((isMpeg1 ? 144 : 72) * bitsPerSecond / rate) + (bytes[2] >> 1 & 1),
    headBytes: 4 + (bytes[1] & 1 ? 0 : 2) + sideBytes,
  };
}

/** How a channel of a granule is read. */
export interface ChannelInfo {
  /** Bits of its scale factors and values. */
  readonly bits: number;
  /** Pairs of values before those that are at most 1. */
  readonly pairs: number;
  readonly gain: number;
  readonly scaleCode: number;
  /** 0: long; 1: the last long one before short ones; 2: short; 3: the first long one after them. */
  readonly blockType: number;
  /** Whether the lowest two subbands are long as usual, whatever the others are. */
  readonly isMixed: boolean;
  /** The tables of three regions of pairs, and the bands of the first two; undefined: as usual. */
  readonly tables: readonly number[];
  readonly regions: readonly [number, number] | undefined;
  readonly windowGains: readonly number[];
  readonly hasEmphasis: boolean;
  /** Whether steps of scale factors are whole; otherwise half as large. */
  readonly isCoarse: boolean;
  readonly fourTable: number;
}

/** The side information of a frame. */
export interface SideInfo {
  /** Bytes of earlier frames with which its main data begins. */
  readonly back: number;
  /** For each channel: which groups of scale factors the second granule has of the first. */
  readonly shared: readonly number[];
  /** [granules][channels]. */
  readonly granules: readonly (readonly ChannelInfo[])[];
}

/** Reads the side information. Errors: AudioError. @param frame the whole frame */
export function readSideInfo(frame: Uint8Array, header: FrameHeader): SideInfo {
  const { isMpeg1, channels, headBytes } = header;
  const reader = new BitReader(frame.subarray(0, headBytes), DAMAGED);
  reader.seek(8 * (4 + (frame[1] & 1 ? 0 : 2)));
  const back = reader.unsigned(isMpeg1 ? 9 : 8);
  reader.unsigned(isMpeg1 ? (channels === 1 ? 5 : 3) : channels); // private bits
  const each = <T>(count: number, read: () => T) => Array.from({ length: count }, read);
  const shared = each(channels, () => isMpeg1 ? reader.unsigned(4) : 0);
  const granules = each(
    granulesOf(header),
    () => each(channels, () => readChannelInfo(reader, isMpeg1)),
  );
  return { back, shared, granules };
}

function readChannelInfo(reader: BitReader, isMpeg1: boolean): ChannelInfo {
  const [bits, pairs, gain] = [reader.unsigned(12), reader.unsigned(9), reader.unsigned(8)];
  const scaleCode = reader.unsigned(isMpeg1 ? 4 : 9);
  const isSwitched = reader.unsigned(1) === 1;
  const blockType = isSwitched ? reader.unsigned(2) : 0;
  const isMixed = isSwitched && reader.unsigned(1) === 1;
  const tables = Array.from({ length: isSwitched ? 2 : 3 }, () => reader.unsigned(5));
  const windowGains = isSwitched ? [0, 0, 0].map(() => reader.unsigned(3)) : [0, 0, 0];
  const regions: ChannelInfo["regions"] = isSwitched
    ? undefined
    : [reader.unsigned(4) + 1, reader.unsigned(3) + 1];
  const hasEmphasis = isMpeg1 ? reader.unsigned(1) === 1 : scaleCode >= 500;
  const [isCoarse, fourTable] = [reader.unsigned(1) === 1, reader.unsigned(1)];
  return {
    ...{ bits, pairs, gain, scaleCode, blockType, isMixed },
    ...{ tables, regions, windowGains, hasEmphasis, isCoarse, fourTable },
  };
}

/** What the first frame tells of a file, if it is a tag and no sound. */
export interface EncoderTag {
  /** Samples that encoder and decoder put before the sound. */
  readonly skip: number;
  /** Samples of the sound, if they are known. */
  readonly length: number | undefined;
}

/** Samples by which a decoder is late. */
const DECODER_DELAY = 529;

/** Reads the tag "Xing", "Info" or "VBRI" of a first frame; undefined where there is none. */
export function readTag(frame: Uint8Array, header: FrameHeader): EncoderTag | undefined {
  const text = (at: number) => String.fromCharCode(...frame.subarray(at, at + 4));
  if (text(36) === "VBRI") return { skip: 0, length: undefined };
  const at = header.headBytes - (frame[1] & 1 ? 0 : 2);
  if (text(at) !== "Xing" && text(at) !== "Info") return undefined;
  const view = new DataView(frame.buffer, frame.byteOffset, frame.byteLength);
  const flags = at + 8 <= frame.length ? view.getUint32(at + 4) : 0;
  const samples = flags & 1 && at + 12 <= frame.length
    ? view.getUint32(at + 8) * GRANULE * granulesOf(header)
    : undefined;
  const sizes = [4, 4, 100, 4].map((size, i) => flags >> i & 1 ? size : 0);
  const name = at + 8 + sizes.reduce((sum, size) => sum + size);
  if (!/^L(AME|avf|avc)$/.test(text(name)) || name + 24 > frame.length) {
    return { skip: 0, length: samples };
  }
  const gaps = view.getUint32(name + 20) & 0xff_ffff;
  const [delay, padding] = [gaps >> 12, gaps & 0xfff];
  return {
    skip: delay + DECODER_DELAY,
    length: samples && Math.max(0, samples - delay - padding),
  };
}
