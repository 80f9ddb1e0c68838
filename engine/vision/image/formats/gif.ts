// Checks a GIF file: walks its blocks, through all frames, to its end mark. The format: CompuServe,
// Graphics Interchange Format, version 89a.

import { ByteReader } from "../byte_reader.ts";
import { checkSize, ImageError, MAX_PLATFORM_PIXELS } from "../image.ts";
import { plain, type Traits } from "./traits.ts";

const SIGNATURE_BYTES = 6;
const EXTENSION = 0x21;
const FRAME = 0x2c;
const TRAILER = 0x3b;

/** Fails unless the file is complete and of an allowed size. */
export function checkGif(bytes: Uint8Array): Traits {
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
