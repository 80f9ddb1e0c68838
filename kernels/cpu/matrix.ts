// Weight matrices on the CPU. The blocks of the file are kept as they are for look-ups and products
// with f32. For products with int8 they are rearranged into bands of eight rows
// (formats/format.ts), and the blocks are freed at once unless look-ups read them.

import type { FloatRows } from "../ops/activation.ts";
import type { Affine, Matrix, MatrixShape, MatrixWriter } from "../ops/matrix.ts";
import type { QuantFormat } from "../quants/mod.ts";
import { BAND, bandBytes, blockColumns, type CpuFormat, cpuFormat } from "./formats/mod.ts";
import { cpu, type CpuBuffer } from "./memory.ts";

/** A table or a matrix whose rows can be had as floats. */
export interface CpuMatrix extends Matrix {
  /** Number of the first row, for tables that are one part of several. */
  readonly firstRow: number;
  /** The weights of a row: [columns]. */
  floatRow(row: number, side?: number): Float32Array;
}

/** Where a side of a matrix lies in bands. */
export interface PackedSide {
  /** Number of the memory of weights. */
  readonly memory: number;
  /** Address of the first unit. */
  readonly address: number;
  /** From one unit to the next, such as the rows of an expert. */
  readonly unitBytes: number;
}

/** Memory for blocks. */
export interface BlockMemory {
  /** So many bytes, of any content. */
  take(bytes: number): Uint8Array<ArrayBuffer>;
  give(blocks: Uint8Array<ArrayBuffer>): void;
}

/** Memory that those who come next take over: fresh pages cost as much time as filling them. */
export class RecycledBlocks implements BlockMemory {
  #free: Uint8Array<ArrayBuffer>[] = [];

  take(bytes: number): Uint8Array<ArrayBuffer> {
    const fits = ({ length }: Uint8Array<ArrayBuffer>) => length >= bytes && length <= 2 * bytes;
    const index = this.#free.findIndex(fits);
    const [found] = index < 0 ? [new Uint8Array(bytes)] : this.#free.splice(index, 1);
    return found!.subarray(0, bytes);
  }

  give({ buffer }: Uint8Array<ArrayBuffer>): void {
    this.#free.push(new Uint8Array(buffer));
    while (this.#free.length > MOST_FREE) this.#free.shift();
  }

  /** Lets all of it go. */
  clear(): void {
    this.#free = [];
  }
}

/** As many as the kinds of matrices that a layer has. */
const MOST_FREE = 4;

/** Writes blocks out in bands: rows of one unit into new memory. */
export interface Packer {
  pack(format: CpuFormat, rows: Uint8Array, shape: PackShape): PackedSide;
}

/** What is packed. */
export interface PackShape {
  readonly rows: number;
  /** Rows that lie together. */
  readonly unit: number;
  readonly columns: number;
  /** Blocks of a row as kernels count them. */
  readonly blocks: number;
  /** Bytes of a row in the file. */
  readonly rowBytes: number;
}

/** A weight matrix. */
export class WeightMatrix implements CpuMatrix {
  readonly firstRow = 0;
  readonly sides: 1 | 2;
  /** Rows that lie together, each unit in whole bands. */
  readonly unit: number;
  /** Factors and biases as kernels read them, see packAffine(). */
  affine: CpuBuffer | undefined;
  readonly #memory: BlockMemory;
  /** GGUF blocks of each side, until they are let go. */
  readonly #blocks: Uint8Array<ArrayBuffer>[];
  #packed: readonly PackedSide[] | undefined;
  /** Sides whose rows are all there. */
  #finished = 0;
  /** Whether look-ups or products with f32 read the blocks. */
  #keepsBlocks = false;

  constructor(
    readonly label: string,
    readonly format: QuantFormat,
    { rows, columns, sides = 1, unit = rows }: MatrixShape,
    memory: BlockMemory,
  ) {
    this.#memory = memory;
    this.rows = rows;
    this.columns = columns;
    this.sides = sides;
    this.unit = unit;
    this.#blocks = Array.from({ length: sides }, () => memory.take(rows * this.rowBytes));
  }

  readonly rows: number;
  readonly columns: number;

  /** Bytes of a row in the file. */
  get rowBytes(): number {
    return this.columns / this.format.blockSize * this.format.blockBytes;
  }

  /** Where rows as they are in the file go, from byte `at` of a side on. */
  room(side: number, at: number, bytes: number): Uint8Array<ArrayBuffer> {
    return this.#blocks[side].subarray(at, at + bytes);
  }

  /** Has the blocks kept: they are read as floats. Comes before the first product. */
  keepBlocks(): void {
    if (!this.#blocks[0]) {
      throw new RangeError(
        `Cannot read the rows of "${this.label}": they are laid out for products`,
      );
    }
    this.#keepsBlocks = true;
  }

  floatRow(row: number, side = 0): Float32Array {
    const bytes = this.#blocks[side].subarray(row * this.rowBytes, (row + 1) * this.rowBytes);
    return this.format.dequantize(bytes, bytes.length / this.format.blockBytes);
  }

  /** Lays it out for products once all its sides are there: its blocks make room for the next one's. */
  finishSide(packer: Packer): void {
    this.#finished++;
    const format = cpuFormat(this.format.name);
    if (format && this.#finished === this.sides) this.packed(format, packer);
  }

  /** How it lies in bands, laid out when first asked for. */
  packed(format: CpuFormat, packer: Packer): readonly PackedSide[] {
    const { rows, unit, columns, rowBytes } = this;
    const blocks = Math.ceil(columns / blockColumns(format));
    const shape = { rows, unit, columns, blocks, rowBytes };
    if (this.#packed) return this.#packed;
    this.#packed = this.#blocks.map((side) => packer.pack(format, side, shape));
    if (!this.#keepsBlocks) {
      for (const side of this.#blocks.splice(0)) this.#memory.give(side);
    }
    return this.#packed;
  }
}

/** Floats that the factors and biases of a matrix take as kernels read them. */
export function affineFloats({ rows, unit, sides }: WeightMatrix): number {
  return sides * rows / unit * Math.ceil(unit / BAND) * 2 * BAND;
}

/** Writes factors and biases band by band, eight of each, side after side. Bands that a unit does not fill end in zeros. */
export function packAffine(matrix: WeightMatrix, affine: Affine, to: Float32Array): void {
  const { rows, unit, sides } = matrix;
  let at = 0;
  for (let first = 0; first < sides * rows; first += unit) {
    for (let row = 0; row < unit; row += BAND, at += 2 * BAND) {
      const [from, end] = [first + row, first + Math.min(unit, row + BAND)];
      to.set(affine.scale.subarray(from, end), at);
      to.set(affine.bias.subarray(from, end), at + BAND);
    }
  }
}

/** Rows of f32 as a table to look up. */
export function tableOf({ floats, columns, stride }: FloatRows, table: {
  rows: number;
  first: number;
  format: QuantFormat;
}): CpuMatrix {
  const { rows, first: firstRow, format } = table;
  const values = cpu(floats).floats;
  return {
    label: floats.label,
    format,
    rows,
    columns,
    sides: 1,
    firstRow,
    floatRow: (row) => values.subarray(row * stride, row * stride + columns),
  };
}

/** Takes the rows of a side. */
export class WeightWriter implements MatrixWriter {
  readonly #matrix: WeightMatrix;
  readonly #side: number;
  readonly #packer: Packer;
  #written = 0;

  constructor(matrix: WeightMatrix, side: number, packer: Packer) {
    this.#matrix = matrix;
    this.#side = side;
    this.#packer = packer;
  }

  append(rows: Uint8Array): void {
    const room = this.room(rows.length);
    const isThere = rows.buffer === room.buffer && rows.byteOffset === room.byteOffset;
    if (!isThere) room.set(rows);
    this.#written += rows.length;
  }

  room(bytes: number): Uint8Array<ArrayBuffer> {
    return this.#matrix.room(this.#side, this.#written, bytes);
  }

  finish(): void {
    this.#matrix.finishSide(this.#packer);
  }
}

/** Bytes of a unit in bands. */
export function unitBytes(format: CpuFormat, { unit, blocks }: PackShape): number {
  return Math.ceil(unit / BAND) * bandBytes(format, blocks);
}
