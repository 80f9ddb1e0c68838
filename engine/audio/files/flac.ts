// FLAC, as RFC 9639 has it: frames of a few thousand samples, each channel predicted from its earlier
// samples, with the differences in Rice codes. The checksums of headers and frames are compared; the
// MD5 of the whole is not.

import { AudioError, checkSound, type SoundReader } from "../audio.ts";
import type { SoundInput } from "../input.ts";
import { BitReader } from "./bit_reader.ts";

/** What the block STREAMINFO says, as far as it is needed. */
interface StreamInfo {
  readonly rate: number;
  readonly channels: number;
  readonly bits: number;
  /** 0: not known. */
  readonly length: number;
  /** Most samples of a frame, as the file says. */
  readonly mostSamples: number;
}

/** What the header of a frame says. */
interface FrameHeader {
  readonly samples: number;
  /** 0 to 7: that many channels and one more; 8 to 10: left and side, side and right, mid and side. */
  readonly assignment: number;
  readonly bits: number;
}

/** The error of a frame that is cut off. */
const END = "the FLAC file ends within a frame: it is incomplete";

/** Most samples of any frame. */
const MOST_SAMPLES = 65_535;

const BITS = [0, 8, 12, 0, 16, 20, 24, 32];

/** Whether a file begins like FLAC. */
export function isFlac(file: SoundInput): boolean {
  return file.text(0, 4) === "fLaC";
}

/** Opens a FLAC file. Errors: AudioError. */
export function openFlac(file: SoundInput): SoundReader {
  const { info, first } = readMetadata(file);
  const { rate, channels, length, mostSamples, bits } = info;
  // Twice what samples take that are written as they are, and the headers.
  const mostBytes = 1024 + channels * (64 + Math.ceil(mostSamples * (bits + 1) / 4));
  return {
    format: "FLAC",
    rate,
    channels,
    length: length || undefined,
    *blocks() {
      let done = 0;
      for (let at = first; at < file.size;) {
        // What follows the last frame is not FLAC's, such as a tag at the end of the file.
        if (length > 0 && done >= length) return;
        const frame = readFrame(file.read(at, mostBytes), at, info);
        yield frame.block;
        at += frame.size;
        done += frame.block[0].length;
      }
      if (done < length) {
        throw new AudioError(
          `the FLAC file has ${done} of its ${length} samples: it is incomplete`,
        );
      }
    },
  };
}

/** The block STREAMINFO, which is the first one, and the byte behind all blocks. */
function readMetadata(file: SoundInput): { info: StreamInfo; first: number } {
  let info: StreamInfo | undefined;
  for (let at = 4;;) {
    const header = file.read(at, 4);
    if (header.length < 4) throw new AudioError("the FLAC file ends within its header");
    const [isLast, type] = [header[0] >= 0x80, header[0] & 0x7f];
    const size = header[1] * 2 ** 16 + header[2] * 2 ** 8 + header[3];
    at += 4;
    if (at + size > file.size) throw new AudioError("the FLAC file ends within its header");
    if (type === 0) {
      if (size < 34) throw new AudioError(`its FLAC header has ${size} of 34 bytes`);
      info = readStreamInfo(new BitReader(file.read(at, 34), END));
    }
    at += size;
    if (!isLast) continue;
    if (info) return { info, first: at };
    throw new AudioError("its FLAC header lacks the block STREAMINFO");
  }
}

function readStreamInfo(reader: BitReader): StreamInfo {
  reader.unsigned(16); // least samples of a frame
  const mostSamples = reader.unsigned(16) || MOST_SAMPLES;
  for (let i = 0; i < 2; i++) reader.unsigned(24); // least and most bytes of a frame
  const [rate, channels] = [reader.unsigned(20), reader.unsigned(3) + 1];
  const bits = reader.unsigned(5) + 1;
  const length = reader.unsigned(4) * 2 ** 32 + reader.unsigned(32);
  checkSound("FLAC", rate, channels);
  return { rate, channels, bits, length, mostSamples };
}

/** The samples of a frame, and its bytes. @param bytes from the one at `at` of the file on */
function readFrame(
  bytes: Uint8Array,
  at: number,
  info: StreamInfo,
): { block: Float32Array[]; size: number } {
  const reader = new BitReader(bytes, END);
  const { samples, assignment, bits } = readFrameHeader(reader, bytes, at, info);
  const side = assignment === 9 ? 0 : assignment >= 8 ? 1 : -1;
  const channels = Array.from(
    { length: info.channels },
    (_, channel) => readSubframe(reader, samples, bits + (channel === side ? 1 : 0)),
  );
  reader.align();
  const end = reader.at;
  if (reader.unsigned(16) !== crc16(bytes, end)) {
    throw new AudioError(`the FLAC frame at byte ${at} is damaged: its checksum differs`);
  }
  joinChannels(channels, assignment);
  const scale = 2 ** -(bits - 1);
  const block = channels.map((values) => Float32Array.from(values, (value) => value * scale));
  return { block, size: end + 2 };
}

function readFrameHeader(
  reader: BitReader,
  bytes: Uint8Array,
  at: number,
  info: StreamInfo,
): FrameHeader {
  const damaged = (state: string) =>
    new AudioError(`the FLAC frame at byte ${at} is damaged: ${state}`);
  if (reader.unsigned(15) !== 0b111111111111100) throw damaged("no frame begins there");
  reader.unsigned(1); // whether the sizes of blocks vary
  const [sizeCode, rateCode] = [reader.unsigned(4), reader.unsigned(4)];
  const [assignment, bitsCode] = [reader.unsigned(4), reader.unsigned(3)];
  reader.unsigned(1);
  // The number of the frame or sample, in UTF-8's form of up to seven bytes.
  const lead = reader.unsigned(8);
  const more = lead < 0x80 ? 0 : Math.clz32(~(lead << 24)) - 1;
  if (lead >= 0x80 && (more < 1 || more > 6)) throw damaged("its number is not valid");
  for (let i = 0; i < more; i++) reader.unsigned(8);
  const samples = sizeCode === 1
    ? 192
    : sizeCode >= 8
    ? 2 ** sizeCode
    : sizeCode >= 6
    ? reader.unsigned(8 * (sizeCode - 5)) + 1
    : 144 * 2 ** sizeCode;
  if (sizeCode === 0) throw damaged("its size is not valid");
  if (rateCode >= 12) reader.unsigned(rateCode === 12 ? 8 : 16);
  if (reader.unsigned(8) !== crc8(bytes, reader.at - 1)) {
    throw damaged("the checksum of its header differs");
  }
  const bits = bitsCode === 0 ? info.bits : BITS[bitsCode];
  const channels = assignment < 8 ? assignment + 1 : 2;
  if (samples > info.mostSamples) throw damaged(`it has more samples than any, says the file`);
  if (bits === 0 || assignment > 10 || channels !== info.channels) {
    throw damaged("its header contradicts that of the file");
  }
  return { samples, assignment, bits };
}

/** The samples of a channel. */
function readSubframe(reader: BitReader, samples: number, bits: number): Float64Array {
  reader.unsigned(1);
  const type = reader.unsigned(6);
  const wasted = reader.unsigned(1) ? reader.zeros() + 1 : 0;
  const own = bits - wasted;
  if (own < 1) throw new AudioError(`a FLAC frame is damaged: it has ${wasted} unused bits`);
  const values = new Float64Array(samples);
  if (type === 0) values.fill(reader.signed(own));
  else if (type === 1) {
    for (let i = 0; i < samples; i++) values[i] = reader.signed(own);
  } else if (type >= 8 && type <= 12) {
    readFixed(reader, values, own, type - 8);
  } else if (type >= 32) {
    readPredicted(reader, values, own, type - 31);
  } else {
    throw new AudioError(`a FLAC frame is damaged: it says that its channel is of type ${type}`);
  }
  if (wasted > 0) { for (let i = 0; i < samples; i++) values[i] *= 2 ** wasted; }
  return values;
}

/** The coefficients of the predictors that need none in the file, the latest sample first. */
const FIXED = [[], [1], [2, -1], [3, -3, 1], [4, -6, 4, -1]];

function readFixed(reader: BitReader, values: Float64Array, bits: number, order: number): void {
  readFirst(reader, values, bits, order);
  readResidual(reader, values, order);
  predict(values, FIXED[order], 0);
}

function readPredicted(
  reader: BitReader,
  values: Float64Array,
  bits: number,
  order: number,
): void {
  readFirst(reader, values, bits, order);
  const precision = reader.unsigned(4) + 1;
  const shift = reader.signed(5);
  if (precision === 16 || shift < 0) {
    throw new AudioError("a FLAC frame is damaged: its predictor is not valid");
  }
  const factors = Array.from({ length: order }, () => reader.signed(precision));
  readResidual(reader, values, order);
  predict(values, factors, shift);
}

/** The samples before the first one that is predicted. */
function readFirst(reader: BitReader, values: Float64Array, bits: number, order: number): void {
  if (order > values.length) {
    throw new AudioError("a FLAC frame is damaged: it is shorter than its predictor");
  }
  for (let i = 0; i < order; i++) values[i] = reader.signed(bits);
}

/** The differences from what is predicted, in partitions of Rice codes. */
function readResidual(reader: BitReader, values: Float64Array, order: number): void {
  const method = reader.unsigned(2);
  const parts = 2 ** reader.unsigned(4);
  const each = values.length / parts;
  if (method > 1 || !Number.isInteger(each) || each < order) {
    throw new AudioError("a FLAC frame is damaged: its partitions do not come out even");
  }
  const parameterBits = method === 0 ? 4 : 5;
  const escape = 2 ** parameterBits - 1;
  for (let part = 0, i = order; part < parts; part++) {
    const parameter = reader.unsigned(parameterBits);
    const end = (part + 1) * each;
    if (parameter === escape) {
      const bits = reader.unsigned(5);
      for (; i < end; i++) values[i] = reader.signed(bits);
      continue;
    }
    for (; i < end; i++) {
      const code = reader.zeros() * 2 ** parameter + reader.unsigned(parameter);
      values[i] = code % 2 === 0 ? code / 2 : -(code + 1) / 2;
    }
  }
}

/** values[i] += floor(sum of factors[j] * values[i - 1 - j] / 2^shift), in order. */
function predict(values: Float64Array, factors: readonly number[], shift: number): void {
  const order = factors.length;
  const scale = 2 ** -shift;
  for (let i = order; i < values.length; i++) {
    let sum = 0;
    for (let j = 0; j < order; j++) sum += factors[j] * values[i - 1 - j];
    values[i] += Math.floor(sum * scale);
  }
}

/** Makes left and right of what a frame has of them. */
function joinChannels([first, second]: Float64Array[], assignment: number): void {
  if (assignment < 8) return;
  for (let i = 0; i < first.length; i++) {
    const [a, b] = [first[i], second[i]];
    if (assignment === 8) second[i] = a - b;
    else if (assignment === 9) first[i] = a + b;
    else {
      const middle = 2 * a + (Math.abs(b) % 2);
      first[i] = (middle + b) / 2;
      second[i] = (middle - b) / 2;
    }
  }
}

function crcTable(polynomial: number, bits: number): Uint16Array {
  return Uint16Array.from({ length: 256 }, (_, byte) => {
    let value = byte << bits - 8;
    for (let i = 0; i < 8; i++) {
      value = value & 1 << bits - 1 ? value << 1 ^ polynomial : value << 1;
    }
    return value & 2 ** bits - 1;
  });
}

const CRC8 = crcTable(0x07, 8);
const CRC16 = crcTable(0x8005, 16);

function crc8(bytes: Uint8Array, end: number): number {
  let crc = 0;
  for (let at = 0; at < end; at++) crc = CRC8[crc ^ bytes[at]];
  return crc;
}

function crc16(bytes: Uint8Array, end: number): number {
  let crc = 0;
  for (let at = 0; at < end; at++) crc = crc << 8 & 0xff00 ^ CRC16[crc >> 8 ^ bytes[at]];
  return crc;
}
