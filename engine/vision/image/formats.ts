// Recognizes the format of a picture, and reads its size and orientation from its header: supported
// formats, and others by their name, for the error.

import { ByteReader } from "./byte_reader.ts";
import { checkSize, ImageError, MAX_PLATFORM_PIXELS, type Size } from "./image.ts";
import { Marker, readSegments, startsWith } from "./jpeg/frame.ts";
import { readOrientation, UPRIGHT, uprightSize } from "./orientation.ts";

/** The result of a format's check. */
export interface Traits {
  /** Size of the decoded picture, upright, in pixels. */
  readonly size: Size;
  /** The decoder for the file: the platform's, or one of ours. */
  readonly decoder: "platform" | "png" | "jpeg";
  /** How to turn the decoder's result, as a number of EXIF: from 1 (not at all) to 8. */
  readonly orientation: number;
}

/**
 * The traits of a file that the platform decodes and turns upright itself.
 *
 * @param size upright
 * @throws {ImageError} if it has too many pixels
 */
export function plain({ width, height }: Size): Traits {
  const size = checkSize(width, height, MAX_PLATFORM_PIXELS);
  return { size, decoder: "platform", orientation: UPRIGHT };
}

/** Formats by their first bytes, as Latin-1; a dot stands for any byte. */
const FORMATS: [start: RegExp, check: (bytes: Uint8Array) => Traits][] = [
  [/^\x89PNG\r\n.\n/s, checkPng],
  [/^\xff\xd8\xff/, checkJpeg],
  [/^RIFF....WEBP/s, checkWebp],
  [/^GIF8[79]a/, checkGif],
  [/^BM/, checkBmp],
];

const OTHERS: [start: RegExp, name: string][] = [
  [/^....ftypavi[fs]/s, "AVIF"],
  [/^....ftyp(?:hei[cmsx]|hev[cmsx]|mif1|msf1)/s, "HEIC"],
  [/^(?:II[*+]\0|MM\0[*+])/, "TIFF"],
  [/^(?:\xef\xbb\xbf)?\s*<(?:svg\b|(?:\?xml|!--|!DOCTYPE)[^]*<svg\b)/i, "SVG"],
  [/^(?:\xff\n|\0\0\0\fJXL )/, "JPEG XL"],
  [/^(?:\xff\x4f\xff\x51|\0\0\0\fjP )/, "JPEG 2000"],
  [/^\0\0[^\0]\0/, "ICO"],
  [/^%PDF-/, "PDF"],
];

/** Bytes of a file in which the pattern is searched. */
const START_BYTES = 1024;

/**
 * Recognizes the format, and checks that the file is complete and of an allowed size.
 *
 * @throws {ImageError} if it is not, or if the format is not supported
 */
export function checkFormat(bytes: Uint8Array): Traits {
  if (bytes.length === 0) throw new ImageError("it is empty");
  const start = String.fromCharCode(...bytes.subarray(0, START_BYTES));
  const check = FORMATS.find(([pattern]) => pattern.test(start))?.[1];
  if (check) return check(bytes);

  const other = OTHERS.find(([pattern]) => pattern.test(start))?.[1];
  throw new ImageError(
    `${other ? `it is ${other}` : "its bytes are of no known format"}; ` +
      "PNG, JPEG, WebP, GIF and BMP are read",
  );
}

/** Bytes of the oldest header, which has shorter fields for the sides and no compression. */
const CORE_HEADER_BYTES = 12;
/** Values of the compression field that mean uncompressed pixels. */
const UNCOMPRESSED = [0, 3, 6];

/** Fails unless the file is complete and of an allowed size. */
function checkBmp(bytes: Uint8Array): Traits {
  const reader = new ByteReader(bytes, "BMP", "little-endian");
  reader.skip(10);
  const dataOffset = reader.uint32();
  const { size, dataBytes } = readInfo(reader, reader.uint32() === CORE_HEADER_BYTES);
  reader.position = 0;
  reader.skip(dataOffset + dataBytes);
  return plain(size);
}

/** The size of the picture, and the number of bytes of its pixels. */
function readInfo(reader: ByteReader, isCore: boolean): { size: Size; dataBytes: number } {
  const width = isCore ? reader.uint16() : Math.abs(reader.int32());
  // A negative height means that the top row comes first.
  const height = isCore ? reader.uint16() : Math.abs(reader.int32());
  const size = checkSize(width, height);
  reader.skip(2);
  const bitsPerPixel = reader.uint16();
  const compression = isCore ? 0 : reader.uint32();
  if (!UNCOMPRESSED.includes(compression)) return { size, dataBytes: reader.uint32() };
  const rowBytes = Math.ceil(width * bitsPerPixel / 32) * 4;
  return { size, dataBytes: rowBytes * height };
}

const SIGNATURE_BYTES = 6;
const EXTENSION = 0x21;
const FRAME = 0x2c;
const TRAILER = 0x3b;

/** Fails unless the file is complete and of an allowed size. */
function checkGif(bytes: Uint8Array): Traits {
  const reader = new ByteReader(bytes, "GIF", "little-endian");
  reader.skip(SIGNATURE_BYTES);
  const size = checkSize(reader.uint16(), reader.uint16());
  const flags = reader.uint8();
  reader.skip(2);
  skipColors(reader, flags);
  for (;;) {
    const block = reader.uint8();
    if (block === TRAILER) return plain(size);
    if (block === EXTENSION) skipExtension(reader);
    else if (block === FRAME) skipFrame(reader);
    else throw new ImageError("the GIF file is damaged: a block is of no known kind");
  }
}

function skipExtension(reader: ByteReader): void {
  reader.skip(1);
  skipParts(reader);
}

function skipFrame(reader: ByteReader): void {
  reader.skip(4);
  checkSize(reader.uint16(), reader.uint16(), MAX_PLATFORM_PIXELS);
  skipColors(reader, reader.uint8());
  reader.skip(1);
  skipParts(reader);
}

/** Skips the colour table, if the flags announce one. */
function skipColors(reader: ByteReader, flags: number): void {
  if ((flags & 0x80) !== 0) reader.skip(3 << (flags & 7) + 1);
}

/**
 * Skips the sub-blocks of a block: each has a length and that many bytes; the last has length zero.
 */
function skipParts(reader: ByteReader): void {
  for (let length = reader.uint8(); length > 0; length = reader.uint8()) reader.skip(length);
}

const EXIF = "Exif\0\0";

/** Frames that decodeJpeg supports: baseline, extended sequential, and progressive. */
const DECODABLE: readonly number[] = [Marker.SOF0, Marker.SOF1, Marker.SOF2];

/** Fails unless the file is complete and of an allowed size. */
function checkJpeg(bytes: Uint8Array): Traits {
  let orientation = UPRIGHT;
  let stored: Size | undefined;
  let isDecodable = false;
  for (const { marker, data } of readSegments(bytes)) {
    if (isFrame(marker)) {
      const [precision, upperHeight, height, upperWidth, width, components] = data;
      stored = checkSize(upperWidth << 8 | width, upperHeight << 8 | height);
      isDecodable = DECODABLE.includes(marker) && precision === 8 && [1, 3].includes(components);
    }
    if (marker === Marker.APP1 && startsWith(data, EXIF)) {
      orientation = readOrientation(data.subarray(EXIF.length));
    }
  }
  if (!stored) throw new ImageError("the JPEG file has no picture");
  // The platform turns pictures upright itself.
  const size = uprightSize(stored, orientation);
  return isDecodable ? { size, decoder: "jpeg", orientation } : plain(size);
}

/** Whether the marker starts a frame: all from SOF0 on, except those of tables in between. */
function isFrame(marker: number): boolean {
  return marker >= Marker.SOF0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
}

/** The facts of the picture in the chunks. */
interface Facts {
  /** Size of the canvas or, without one, of the bitstream. */
  size?: Size;
  orientation: number;
}

/** Fails unless the file is complete and of an allowed size. */
function checkWebp(bytes: Uint8Array): Traits {
  const reader = new ByteReader(bytes, "WebP", "little-endian");
  reader.skip(4);
  const length = reader.uint32();
  const content = new ByteReader(reader.take(length), "WebP", "little-endian");
  content.skip(4);
  const facts: Facts = { orientation: UPRIGHT };
  checkChunks(content, length, (name, data, length) => checkChunk(name, data, length, facts));
  if (!facts.size) throw new ImageError("the WebP file has no picture");
  // The platform turns pictures upright itself.
  return plain(uprightSize(facts.size, facts.orientation));
}

type Check = (name: string, data: ByteReader, length: number) => void;

/** Walks chunks. Each has a name, a length, and data padded to an even length. */
function checkChunks(reader: ByteReader, end: number, check: Check): void {
  while (reader.position < end) {
    const name = reader.name();
    const length = reader.uint32();
    check(name, new ByteReader(reader.take(length), "WebP", "little-endian"), length);
    if (length % 2 === 1 && reader.position < end) reader.skip(1);
  }
}

function checkChunk(name: string, data: ByteReader, length: number, facts: Facts): void {
  switch (name) {
    case "EXIF":
      facts.orientation = readOrientation(data.take(length));
      return;
    case "ANMF":
      data.skip(16);
      // A frame contains a bitstream, perhaps with alpha, but no frames.
      return checkChunks(data, length, checkBitstream);
    case "VP8X":
      data.skip(4);
      facts.size = checkSize(1 + data.uint24(), 1 + data.uint24());
      return;
    default: {
      const size = checkBitstream(name, data);
      if (size) facts.size ??= size;
    }
  }
}

/** The size in a chunk that is a bitstream; undefined for other chunks. */
function checkBitstream(name: string, data: ByteReader): Size | undefined {
  if (name === "ANMF") throw new ImageError("the WebP file is damaged: a frame is within a frame");
  if (name === "VP8 ") {
    data.skip(6);
    return checkSize(data.uint16() & 0x3fff, data.uint16() & 0x3fff, MAX_PLATFORM_PIXELS);
  }
  if (name !== "VP8L") return undefined;
  data.skip(1);
  const sides = data.uint32();
  return checkSize(1 + (sides & 0x3fff), 1 + (sides >>> 14 & 0x3fff), MAX_PLATFORM_PIXELS);
}

const PNG_SIGNATURE_BYTES = 8;
const CHECKSUM_BYTES = 4;

/** Fails unless the file is complete and of an allowed size. */
function checkPng(bytes: Uint8Array): Traits {
  const reader = new ByteReader(bytes, "PNG", "big-endian");
  reader.skip(PNG_SIGNATURE_BYTES);
  const stored = readHeader(reader);
  let orientation = UPRIGHT;
  for (;;) {
    const length = reader.uint32();
    const name = reader.name();
    const data = reader.take(length);
    reader.skip(CHECKSUM_BYTES);
    if (name === "eXIf") orientation = readOrientation(data);
    if (name !== "IEND") continue;
    return { size: uprightSize(stored, orientation), decoder: "png", orientation };
  }
}

/** Reads the first chunk, which has to be the header. */
function readHeader(reader: ByteReader): Size {
  const length = reader.uint32();
  const name = reader.name();
  if (name !== "IHDR" || length !== 13) throw new ImageError("the PNG file has no header");
  const size = checkSize(reader.uint32(), reader.uint32());
  reader.skip(5 + CHECKSUM_BYTES);
  return size;
}
