// Decodes PNG files of all kinds to 8 bits, row by row while their data is inflated. Memory holds
// only the picture itself and a small part of the data, however much the file expands. Alpha is
// discarded; of 16 bits the upper byte is kept, as in Pillow and stb_image. The format: W3C,
// Portable Network Graphics.

import { crc32 } from "../../../../host/mod.ts";
import { type CancelFlag, cancellable } from "../../../cancellation.ts";
import { ByteReader } from "../byte_reader.ts";
import { type Image, ImageError } from "../image.ts";
import { type PixelFormat, RowDecoder } from "./rows.ts";

const SIGNATURE_BYTES = 8;
/**
 * Compressed bytes that are inflated at a time. They expand to at most a thousand times as many.
 */
const PIECE_BYTES = 8 * 1024;

/** Channels by colour type, and the possible numbers of bits of each. */
const KINDS: Record<number, { channels: number; depths: readonly number[] }> = {
  0: { channels: 1, depths: [1, 2, 4, 8, 16] },
  2: { channels: 3, depths: [8, 16] },
  3: { channels: 1, depths: [1, 2, 4, 8] },
  4: { channels: 2, depths: [8, 16] },
  6: { channels: 4, depths: [8, 16] },
};

/** The parts of a file. */
interface Parts {
  readonly format: PixelFormat;
  readonly data: readonly Uint8Array[];
}

/**
 * Decodes a file that checkPng() has accepted.
 *
 * @param bytes the whole file
 * @param flags cancel the work
 * @throws {ImageError} if its data is damaged
 */
export async function decodePng(
  bytes: Uint8Array,
  flags: readonly CancelFlag[] = [],
): Promise<Image> {
  const { format, data } = readParts(bytes);
  const rows = new RowDecoder(format);
  for await (const piece of inflate(data)) {
    cancellable(flags, () => rows.add(piece));
    if (rows.isDone) return rows.image;
  }
  throw damaged("some rows are missing");
}

function readParts(bytes: Uint8Array): Parts {
  const reader = new ByteReader(bytes, "PNG", "big-endian");
  reader.skip(SIGNATURE_BYTES);
  let header: Omit<PixelFormat, "palette"> | undefined;
  let palette: Uint8Array | undefined;
  const data: Uint8Array[] = [];
  for (let name = ""; name !== "IEND";) {
    const length = reader.uint32();
    const checked = bytes.subarray(reader.position, reader.position + 4 + length);
    name = reader.name();
    const content = reader.take(length);
    const sum = reader.uint32();
    if (!["IHDR", "PLTE", "IDAT"].includes(name)) continue;
    if (crc32(checked) !== sum) throw damaged(`a checksum of ${name} does not fit`);
    if (name === "IHDR") header = readHeader(content);
    if (name === "PLTE") palette = content;
    if (name === "IDAT") data.push(content);
  }
  if (!header || data.length === 0) throw damaged("it has no picture");
  const isIndexed = header.colorType === 3;
  if (isIndexed && !palette) throw damaged("it has no palette");
  return { format: { ...header, ...(isIndexed && palette && { palette }) }, data };
}

function readHeader(content: Uint8Array): Omit<PixelFormat, "palette"> {
  const reader = new ByteReader(content, "PNG", "big-endian");
  const [width, height] = [reader.uint32(), reader.uint32()];
  const [depth, colorType] = [reader.uint8(), reader.uint8()];
  const [compression, filter, interlace] = [reader.uint8(), reader.uint8(), reader.uint8()];
  const { channels, depths } = KINDS[colorType] ?? { channels: 0, depths: [] };
  if (!depths.includes(depth) || compression !== 0 || filter !== 0 || interlace > 1) {
    throw damaged("its header is of no known kind");
  }
  return { width, height, depth, colorType, channels, isInterlaced: interlace === 1 };
}

async function* inflate(data: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  const pieces = ReadableStream.from(cut(data));
  try {
    yield* pieces.pipeThrough(new DecompressionStream("deflate"));
  } catch (error) {
    // The decompression stream reports damaged data as TypeError.
    if (error instanceof TypeError) throw damaged(error.message);
    throw error;
  }
}

function* cut(data: readonly Uint8Array[]): Generator<Uint8Array<ArrayBuffer>> {
  for (const part of data) {
    for (let at = 0; at < part.length; at += PIECE_BYTES) {
      yield new Uint8Array(part.subarray(at, at + PIECE_BYTES));
    }
  }
}

function damaged(state: string): ImageError {
  return new ImageError(`its data is damaged (${state})`);
}
