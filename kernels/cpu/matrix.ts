// Weight matrices on the CPU: rows of the file are rearranged into bands of eight rows while they are
// read (formats/format.ts), piece by piece, so that no matrix is in memory twice.

import type { FileBytes } from "../../host/mod.ts";
import type { FloatRows } from "../ops/activation.ts";
import type { Affine, Matrix, MatrixShape, MatrixWriter } from "../ops/matrix.ts";
import type { QuantFormat } from "../quants/mod.ts";
import { BAND, bandBytes, blockColumns, type CpuFormat, cpuFormat } from "./formats/mod.ts";
import { cpu, type CpuBuffer } from "./memory.ts";

/** Rows of f32 that a step made, as a table to look up. */
export interface FloatTable extends Matrix {
  /** Number of the first row, for tables that are one part of several. */
  readonly firstRow: number;
  /** The values of a row: [columns]. */
  floatRow(row: number): Float32Array;
}

/** What look-ups read. */
export type CpuMatrix = WeightMatrix | FloatTable;

/** The place of a matrix side in bands. */
export interface PackedSide {
  /** Number of the memory of weights. */
  readonly memory: number;
  /** Address of the first unit. */
  readonly address: number;
  /** From one unit to the next, such as the rows of an expert. */
  readonly unitBytes: number;
}

/** Packs rows of the file into bands. */
export interface Packer {
  /** New memory for the bands of a side. */
  reserve(format: CpuFormat, shape: PackShape): PackedSide;
  /** Memory for rows that are about to be packed, valid until anything else uses the packer. */
  staging(bytes: number): Uint8Array<SharedArrayBuffer>;
  /** Packs rows from `first` on: whole bands, or up to the end of a unit. */
  pack(format: CpuFormat, shape: PackShape, to: PackedSide, first: number, rows: Uint8Array): void;
  /**
   * Has each thread read rows of a file, and pack them. `count` rows from `first` on: whole bands, or up to
   * the last row. Returns whether that was possible; if not, some may be packed.
   */
  packFile(
    format: CpuFormat,
    shape: PackShape,
    to: PackedSide,
    rows: { first: number; count: number },
    file: FileBytes,
  ): boolean;
}

export interface PackShape {
  readonly rows: number;
  /** Rows of a unit. */
  readonly unit: number;
  readonly columns: number;
  /** Blocks of a row as kernels count them. */
  readonly blocks: number;
  /** Bytes of a row in the file. */
  readonly rowBytes: number;
}

export class WeightMatrix implements Matrix {
  readonly rows: number;
  readonly columns: number;
  readonly sides: 1 | 2;
  /** Rows of a unit, such as an expert; each unit begins with a new band. */
  readonly unit: number;
  /** How it is laid out. */
  readonly layout: CpuFormat;
  /** Factors and biases as kernels read them, see packAffine(). */
  affine: CpuBuffer | undefined;
  /** The side of a pair whose factors and biases are its own. */
  affineSide: 0 | 1 = 0;
  #packed: readonly PackedSide[] | undefined;

  /** Errors: RangeError if no kernel reads the format. */
  constructor(
    readonly label: string,
    readonly format: QuantFormat,
    { rows, columns, sides = 1, unit = rows }: MatrixShape,
  ) {
    const layout = cpuFormat(format.name);
    if (!layout) {
      throw new RangeError(`Cannot lay out "${label}": the CPU has no kernels for ${format.name}`);
    }
    this.layout = layout;
    this.rows = rows;
    this.columns = columns;
    this.sides = sides;
    this.unit = unit;
  }

  /** Bytes of a row in the file. */
  get rowBytes(): number {
    return this.columns / this.format.blockSize * this.format.blockBytes;
  }

  /** The shape of a side. */
  get shape(): PackShape {
    const { rows, unit, columns, rowBytes, layout } = this;
    return { rows, unit, columns, blocks: Math.ceil(columns / blockColumns(layout)), rowBytes };
  }

  /** Its first rows, as a matrix without factors and biases. @param rows at most those of a unit */
  top(packer: Packer, rows: number): WeightMatrix {
    const top = new WeightMatrix(this.label, this.format, { rows, columns: this.columns });
    top.#packed = this.packed(packer);
    return top;
  }

  /** One side of a pair, with its factors and biases. */
  side(packer: Packer, side: 0 | 1): WeightMatrix {
    const { rows, columns, unit } = this;
    const own = new WeightMatrix(this.label, this.format, { rows, columns, unit });
    own.#packed = [this.packed(packer)[side]!];
    own.affine = this.affine;
    own.affineSide = side;
    return own;
  }

  /** The bands of its sides, in memory that is taken when they are first requested. */
  packed(packer: Packer): readonly PackedSide[] {
    return this.#packed ??= Array.from(
      { length: this.sides },
      () => packer.reserve(this.layout, this.shape),
    );
  }
}

/** Number of floats of a matrix's factors and biases in the layout of kernels. */
export function affineFloats({ rows, unit, sides }: WeightMatrix): number {
  return sides * rows / unit * Math.ceil(unit / BAND) * 2 * BAND;
}

/**
 * Writes factors and biases band by band, eight of each, side after side. Bands that a unit does not
 * fill end in zeros.
 */
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
}): FloatTable {
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

/** Bytes of rows below which it takes longer to open their file on each thread than to read them on one. */
const LEAST_SHARED = 2 ** 18;

/** Takes the rows of a side, and packs them as soon as bands are complete. */
export class WeightWriter implements MatrixWriter {
  readonly #matrix: WeightMatrix;
  readonly #side: number;
  readonly #packer: Packer;
  readonly #complete: (() => void) | undefined;
  /** Number of rows that are packed. */
  #packed = 0;
  /** The rows of a band that has begun. */
  #begun = new Uint8Array(0);

  /** @param complete called when the side is finished */
  constructor(matrix: WeightMatrix, side: number, packer: Packer, complete?: () => void) {
    this.#matrix = matrix;
    this.#side = side;
    this.#packer = packer;
    this.#complete = complete;
  }

  append(rows: Uint8Array): void {
    const { layout, shape, rowBytes, unit } = this.#matrix;
    const target = this.target(rows.length);
    const isThere = rows.buffer === target.buffer && rows.byteOffset === target.byteOffset;
    if (!isThere) target.set(rows);
    let staged = this.#staging(rows.length);
    const to = this.#matrix.packed(this.#packer)[this.#side]!;
    while (staged.length > 0) {
      const left = unit - this.#packed % unit;
      const there = staged.length / rowBytes;
      const count = there < left ? there - there % BAND : left;
      if (count === 0) break;
      const bytes = count * rowBytes;
      this.#packer.pack(layout, shape, to, this.#packed, staged.subarray(0, bytes));
      staged = staged.subarray(bytes);
      this.#packed += count;
    }
    this.#begun = staged.slice();
  }

  read(file: FileBytes, count: number): boolean {
    const { layout, shape, rows, rowBytes, unit } = this.#matrix;
    const first = this.#packed;
    const isWhole = count % BAND === 0 || first + count === rows;
    const areJoined = unit % BAND === 0 || unit === rows;
    if (this.#begun.length > 0 || !isWhole || !areJoined) return false;
    if (count * rowBytes < LEAST_SHARED) return false;
    const to = this.#matrix.packed(this.#packer)[this.#side]!;
    if (!this.#packer.packFile(layout, shape, to, { first, count }, file)) return false;
    this.#packed += count;
    return true;
  }

  /** Memory behind the rows that wait for the rest of their band. */
  target(bytes: number): Uint8Array<SharedArrayBuffer> {
    const staging = this.#staging(bytes);
    staging.set(this.#begun);
    return staging.subarray(this.#begun.length);
  }

  #staging(bytes: number): Uint8Array<SharedArrayBuffer> {
    return this.#packer.staging(this.#begun.length + bytes);
  }

  finish(): void {
    const { label, rows, rowBytes } = this.#matrix;
    const written = this.#packed + this.#begun.length / rowBytes;
    if (written < rows) {
      throw new RangeError(
        `Cannot finish "${label}": it has ${rows} rows, but ${written} were written`,
      );
    }
    this.#complete?.();
  }
}

/** Bytes of a unit in bands. */
export function unitBytes(format: CpuFormat, { unit, blocks }: PackShape): number {
  return Math.ceil(unit / BAND) * bandBytes(format, blocks);
}
