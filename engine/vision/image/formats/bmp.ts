// Checks a BMP file: its headers, and whether all its rows are there. The format: Microsoft, Bitmap
// Storage (BITMAPFILEHEADER and the headers after it).

import { ByteReader } from "../byte_reader.ts";
import { checkSize, type Size } from "../image.ts";
import { plain, type Traits } from "./traits.ts";

/** Bytes of the oldest header, which has shorter fields for the sides and no compression. */
const CORE_HEADER_BYTES = 12;
/** Values of the compression field that mean uncompressed pixels. */
const UNCOMPRESSED = [0, 3, 6];

/** Fails unless the file is complete and of an allowed size. */
export function checkBmp(bytes: Uint8Array): Traits {
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
