// Checks a PNG file: walks its chunks from the header to the end mark. The decoder checks their
// contents and checksums. The format: W3C, Portable Network Graphics, section 5.

import { ByteReader } from "../byte_reader.ts";
import { checkSize, ImageError, type Size } from "../image.ts";
import { readOrientation, UPRIGHT, uprightSize } from "../orientation.ts";
import type { Traits } from "./traits.ts";

const SIGNATURE_BYTES = 8;
const CHECKSUM_BYTES = 4;

/** Fails unless the file is complete and of an allowed size. */
export function checkPng(bytes: Uint8Array): Traits {
  const reader = new ByteReader(bytes, "PNG", "big-endian");
  reader.skip(SIGNATURE_BYTES);
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
