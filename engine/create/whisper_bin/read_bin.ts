// Reads the header of a whisper.cpp file: sizes, mel filters, the words of the vocabulary, and the place
// of each tensor. The format: whisper.cpp's models/convert-pt-to-ggml.py; all numbers are little-endian.

import { type FsFile, SEEK_START } from "../../../host/mod.ts";
import { ConversionError } from "../../errors.ts";
import { tensorTypeById } from "../../gguf/mod.ts";

/** The first bytes of a file. */
export const BIN_MAGIC = "lmgg";

/** The numbers of a model, in the order of the file. */
const SIZES = [
  ...["vocabulary", "rows", "width", "heads", "encoderLayers", "context"] as const,
  ...["decoderWidth", "decoderHeads", "decoderLayers", "bins", "type"] as const,
] as const;

/** Bounds against damaged files: far more than any model has. */
const [MOST_SIZE, MOST_WORD, MOST_NAME, MOST_TENSORS] = [1 << 20, 1 << 12, 256, 1 << 14];

/** A tensor in the file. */
export interface BinTensor {
  readonly name: string;
  /** Name of its type in GGML. */
  readonly type: string;
  /** The length of a row first. */
  readonly shape: readonly number[];
  readonly offset: number;
  readonly byteLength: number;
}

/** What a file says. */
export interface BinHeader {
  readonly sizes: Readonly<Record<typeof SIZES[number], number>>;
  /** The bytes of each word. */
  readonly words: readonly Uint8Array[];
  readonly tensors: readonly BinTensor[];
}

/** Reads a header. Errors: ConversionError naming what is damaged. */
export function readBinHeader(path: string, file: FsFile, size: number): BinHeader {
  const reader = new BinReader(path, file, size);
  const magic = new TextDecoder().decode(reader.bytes("magic", 4));
  if (magic !== BIN_MAGIC) throw reader.error("magic", "it is no file of whisper.cpp");
  const sizes = Object.fromEntries(
    SIZES.map((name) => [name, reader.count(name, MOST_SIZE)]),
  ) as BinHeader["sizes"];
  const [bins, frequencies] = ["filters", "frequencies"].map((name) => reader.count(name, 4096));
  reader.skip("filters", bins * frequencies * 4);
  const words = Array.from(
    { length: reader.count("words", sizes.vocabulary) },
    (_, i) => reader.bytes(`word ${i}`, reader.count(`word ${i}`, MOST_WORD)),
  );
  const tensors: BinTensor[] = [];
  while (!reader.isAtEnd) {
    if (tensors.length === MOST_TENSORS) throw reader.error("tensors", "there are too many");
    tensors.push(readTensor(reader, tensors.length));
  }
  return { sizes, words, tensors };
}

function readTensor(reader: BinReader, index: number): BinTensor {
  const at = `tensor ${index}`;
  const [dimensions, nameLength, typeId] = [
    reader.count(at, 4),
    reader.count(at, MOST_NAME),
    reader.count(at, 1000),
  ];
  const shape = Array.from({ length: dimensions }, () => reader.count(at, MOST_SIZE));
  const name = new TextDecoder().decode(reader.bytes(at, nameLength));
  const type = tensorTypeById(typeId);
  const fault = (state: string) => reader.error(`tensor ${JSON.stringify(name)}`, state);
  if (!type) throw fault(`its type ${typeId} is not known`);
  const values = shape.reduce((product, length) => product * length, 1);
  if (shape.length === 0 || values === 0 || shape[0] % type.blockSize !== 0) {
    throw fault(`its shape [${shape.join(", ")}] is none of ${type.name}`);
  }
  const byteLength = values / type.blockSize * type.blockBytes;
  const offset = reader.at;
  reader.skip(`tensor ${JSON.stringify(name)}`, byteLength);
  return { name, type: type.name, shape, offset, byteLength };
}

/** Bytes that are read from the file at once. */
const PIECE = 1 << 16;

/** Reads a file from its beginning. */
class BinReader {
  readonly #path: string;
  readonly #file: FsFile;
  readonly #size: number;
  #piece = new Uint8Array(0);
  #pieceAt = 0;
  at = 0;

  constructor(path: string, file: FsFile, size: number) {
    this.#path = path;
    this.#file = file;
    this.#size = size;
  }

  get isAtEnd(): boolean {
    return this.at === this.#size;
  }

  error(field: string, state: string): ConversionError {
    return new ConversionError(this.#path, field, state);
  }

  count(field: string, most: number): number {
    const bytes = this.bytes(field, 4);
    const count = new DataView(bytes.buffer).getInt32(0, true);
    if (count >= 0 && count <= most) return count;
    throw this.error(field, `${count} is not from 0 to ${most}`);
  }

  skip(field: string, count: number): void {
    if (this.at + count > this.#size) {
      throw this.error(field, `it ends behind the end of the file, at byte ${this.at + count}`);
    }
    this.at += count;
  }

  bytes(field: string, count: number): Uint8Array<ArrayBuffer> {
    const from = this.at;
    this.skip(field, count);
    if (from < this.#pieceAt || this.at > this.#pieceAt + this.#piece.length) {
      this.#piece = new Uint8Array(Math.min(Math.max(PIECE, count), this.#size - from));
      this.#pieceAt = from;
      readInto(this.#file, from, this.#piece, () => this.error(field, "the file became shorter"));
    }
    return this.#piece.slice(from - this.#pieceAt, this.at - this.#pieceAt);
  }
}

/** Fills `target` with the bytes of a file from an offset on. */
export function readInto(
  file: FsFile,
  offset: number,
  target: Uint8Array,
  shortened: () => Error,
): void {
  file.seekSync(offset, SEEK_START);
  for (let filled = 0; filled < target.length;) {
    const count = file.readSync(target.subarray(filled));
    if (count === null) throw shortened();
    filled += count;
  }
}
