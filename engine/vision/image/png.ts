// Decodes PNG files of all kinds to 8 bits, row by row while their data is inflated. Memory holds
// only the picture itself and a small part of the data, however much the file expands. Alpha is
// discarded; of 16 bits the upper byte is kept, as in Pillow and stb_image. The format: W3C,
// Portable Network Graphics.

import { crc32 } from "../../../host/mod.ts";
import { type CancelFlag, cancellable, pollCancellation } from "../../cancellation.ts";
import { ByteReader } from "./byte_reader.ts";
import { type Image, ImageError } from "./image.ts";

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

// The rows of a PNG file as they come out of the decompression: filters are undone, and pixels are
// put in their places. The format: W3C, Portable Network Graphics, sections 8 (interlacing) and 9
// (filters).

/** How the pixels of a file are stored. */
interface PixelFormat {
  readonly width: number;
  readonly height: number;
  /** Bits of a sample. */
  readonly depth: number;
  /** 0 grey, 2 colours, 3 palette, 4 grey with alpha, 6 colours with alpha. */
  readonly colorType: number;
  /** Samples per pixel. */
  readonly channels: number;
  readonly isInterlaced: boolean;
  /** For type 3: red, green and blue of each index. */
  readonly palette?: Uint8Array;
}

/** One pass of an interlaced picture: pixels at even distances, from the first one on. */
interface Pass {
  readonly left: number;
  readonly top: number;
  readonly across: number;
  readonly down: number;
}

const WHOLE: readonly Pass[] = [{ left: 0, top: 0, across: 1, down: 1 }];
/** The passes of Adam7. */
const INTERLACED: readonly Pass[] = [
  { left: 0, top: 0, across: 8, down: 8 },
  { left: 4, top: 0, across: 8, down: 8 },
  { left: 0, top: 4, across: 4, down: 8 },
  { left: 2, top: 0, across: 4, down: 4 },
  { left: 0, top: 2, across: 2, down: 4 },
  { left: 1, top: 0, across: 2, down: 2 },
  { left: 0, top: 1, across: 1, down: 2 },
];

/** Makes a picture from the inflated data, which comes in pieces. */
class RowDecoder {
  /** The picture, complete once isDone. */
  readonly image: Image;
  readonly #format: PixelFormat;
  readonly #passes: Pass[];
  /** Columns of the current pass. */
  #columns = 0;
  #rows = 0;
  #row = 0;
  /**
   * The row that is being received, which begins with its filter; the number of its bytes received
   * so far; and the row above it.
   */
  #line = new Uint8Array();
  #filled = 0;
  #above = new Uint8Array();

  constructor(format: PixelFormat) {
    const { width, height, isInterlaced } = format;
    this.#format = format;
    this.image = { width, height, pixels: new Uint8Array(width * height * 3) };
    this.#passes = (isInterlaced ? INTERLACED : WHOLE)
      .filter(({ left, top }) => left < width && top < height);
    this.#begin();
  }

  /** Whether all rows are complete. Data after them has no meaning. */
  get isDone(): boolean {
    return this.#passes.length === 0;
  }

  /** Takes the next piece of the data. */
  add(piece: Uint8Array): void {
    for (let at = 0; at < piece.length && !this.isDone;) {
      const wanted = this.#line.length - this.#filled;
      const taken = piece.subarray(at, at + wanted);
      this.#line.set(taken, this.#filled);
      this.#filled += taken.length;
      at += taken.length;
      if (taken.length === wanted) this.#finishRow();
    }
  }

  #begin(): void {
    const pass = this.#passes[0];
    if (!pass) return;
    const { width, height, depth, channels } = this.#format;
    this.#columns = Math.ceil((width - pass.left) / pass.across);
    this.#rows = Math.ceil((height - pass.top) / pass.down);
    this.#row = 0;
    const rowBytes = Math.ceil(this.#columns * channels * depth / 8);
    this.#line = new Uint8Array(1 + rowBytes);
    this.#above = new Uint8Array(1 + rowBytes);
  }

  #finishRow(): void {
    pollCancellation();
    const { width, depth, channels } = this.#format;
    const [pass] = this.#passes as [Pass];
    unfilter(this.#line, this.#above, Math.max(1, channels * depth / 8));
    const start = (pass.top + this.#row * pass.down) * width + pass.left;
    this.#paint(start * 3, pass.across * 3);
    [this.#line, this.#above] = [this.#above, this.#line];
    this.#filled = 0;
    if (++this.#row < this.#rows) return;
    this.#passes.shift();
    this.#begin();
  }

  /** Writes the colours of the row into the picture, from `at` on, at distances of `step` bytes. */
  #paint(at: number, step: number): void {
    const { depth, channels, palette } = this.#format;
    if (depth < 8 || palette) return this.#paintPacked(at, step);
    const { pixels } = this.image;
    const line = this.#line;
    const bytes = depth / 8;
    const next = channels * bytes;
    // A pixel has one or three colour samples. The first byte of a sample is the upper one.
    const colorStep = channels >= 3 ? bytes : 0;
    for (let column = 0, from = 1; column < this.#columns; column++, from += next, at += step) {
      pixels[at] = line[from]!;
      pixels[at + 1] = line[from + colorStep]!;
      pixels[at + 2] = line[from + 2 * colorStep]!;
    }
  }

  /** Writes the colours of a row whose pixels are indices, or less than a byte. */
  #paintPacked(at: number, step: number): void {
    const { depth, palette } = this.#format;
    const { pixels } = this.image;
    const most = 2 ** depth - 1;
    for (let column = 0; column < this.#columns; column++, at += step) {
      const bit = column * depth;
      const value = this.#line[1 + (bit >> 3)]! >> 8 - depth - (bit & 7) & most;
      if (palette) {
        // An index beyond the palette is black.
        pixels[at] = palette[value * 3] ?? 0;
        pixels[at + 1] = palette[value * 3 + 1] ?? 0;
        pixels[at + 2] = palette[value * 3 + 2] ?? 0;
      } else {
        pixels.fill(value * 255 / most, at, at + 3);
      }
    }
  }
}

/**
 * Undoes the filter of a row. Its first byte is the number of a filter, which predicts a byte from
 * its neighbours a pixel to the left, above, and above that to the left.
 */
function unfilter(line: Uint8Array, above: Uint8Array, pixelBytes: number): void {
  const { length } = line;
  const first = 1 + pixelBytes;
  switch (line[0]) {
    case 0:
      return;
    case 1:
      for (let at = first; at < length; at++) line[at]! += line[at - pixelBytes]!;
      return;
    case 2:
      for (let at = 1; at < length; at++) line[at]! += above[at]!;
      return;
    case 3:
      for (let at = 1; at < first && at < length; at++) line[at]! += above[at]! >> 1;
      for (let at = first; at < length; at++) {
        line[at]! += line[at - pixelBytes]! + above[at]! >> 1;
      }
      return;
    case 4:
      for (let at = 1; at < first && at < length; at++) line[at]! += above[at]!;
      for (let at = first; at < length; at++) {
        line[at]! += nearest(line[at - pixelBytes]!, above[at]!, above[at - pixelBytes]!);
      }
      return;
  }
  throw new ImageError("its data is damaged (a row has no known filter)");
}

/** The neighbour that is nearest to left + above - corner (Paeth). */
function nearest(left: number, above: number, corner: number): number {
  const toLeft = Math.abs(above - corner);
  const toAbove = Math.abs(left - corner);
  const toCorner = Math.abs(left + above - 2 * corner);
  if (toLeft <= toAbove && toLeft <= toCorner) return left;
  return toAbove <= toCorner ? above : corner;
}
