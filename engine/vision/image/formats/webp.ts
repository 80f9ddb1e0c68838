// Walks the chunks of a WebP file and reads the size of the canvas and of every bitstream on it.
// The format: RFC 9649; the headers of the bitstreams: RFC 6386, section 9.1, and RFC 9649,
// section 3.4.

import { ByteReader } from "../byte_reader.ts";
import { checkSize } from "../image.ts";
import { PLAIN, type Traits } from "./traits.ts";

/** Fails unless the file is whole and of an allowed size. */
export function checkWebp(bytes: Uint8Array): Traits {
  const reader = new ByteReader(bytes, "WebP", "little-endian");
  reader.skip(4);
  const size = reader.uint32();
  const content = reader.take(size);
  checkChunks(new ByteReader(content, "WebP", "little-endian"), content.length, 4);
  return PLAIN;
}

/** Checks the chunks from `start` on. Each is a name, a length, and the data, padded to even. */
function checkChunks(reader: ByteReader, end: number, start: number): void {
  reader.position = start;
  while (reader.position < end) {
    const name = reader.name();
    const length = reader.uint32();
    const data = reader.take(length);
    checkChunk(name, new ByteReader(data, "WebP", "little-endian"), length);
    if (length % 2 === 1 && reader.position < end) reader.skip(1);
  }
}

function checkChunk(name: string, data: ByteReader, length: number): void {
  switch (name) {
    case "VP8X":
      data.skip(4);
      return checkSize(1 + data.uint24(), 1 + data.uint24());
    case "VP8 ":
      data.skip(6);
      return checkSize(data.uint16() & 0x3fff, data.uint16() & 0x3fff);
    case "VP8L": {
      data.skip(1);
      const sides = data.uint32();
      return checkSize(1 + (sides & 0x3fff), 1 + (sides >>> 14 & 0x3fff));
    }
    case "ANMF":
      return checkChunks(data, length, 16);
  }
}
