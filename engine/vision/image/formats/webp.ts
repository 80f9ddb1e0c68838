// Checks a WebP file: walks its chunks, and reads the size of the canvas and of every bitstream on
// it. The format: RFC 9649; the headers of the bitstreams: RFC 6386, section 9.1, and RFC 9649,
// section 3.4.

import { ByteReader } from "../byte_reader.ts";
import { checkSize, ImageError, MAX_PLATFORM_PIXELS, type Size } from "../image.ts";
import { readOrientation, UPRIGHT, uprightSize } from "../orientation.ts";
import { plain, type Traits } from "./traits.ts";

/** The facts of the picture in the chunks. */
interface Facts {
  /** Size of the canvas or, without one, of the bitstream. */
  size?: Size;
  orientation: number;
}

/** Fails unless the file is complete and of an allowed size. */
export function checkWebp(bytes: Uint8Array): Traits {
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
