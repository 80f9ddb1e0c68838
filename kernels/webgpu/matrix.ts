// Weight matrices on a GPU: rows are repacked into the planes of their format, and divided into
// parts by rows if a plane would exceed the binding limit.

import { GROUP, padTo } from "../ops/activation.ts";
import type { Affine, Matrix, MatrixShape, MatrixWriter } from "../ops/matrix.ts";
import type { Codebook, QuantFormat } from "../quants/mod.ts";
import type { Gpu } from "./gpu.ts";
import type { Resource } from "./kernel.ts";
import { repackerOf } from "./repacker.ts";

/** Rows [first, first + rows) of each side of a matrix, in one buffer. */
export interface MatrixPart {
  readonly first: number;
  readonly rows: number;
  readonly buffer: GPUBuffer;
  /** Byte offset of each plane of the format in `buffer`. */
  readonly offsets: readonly number[];
  /** Byte size of each plane. */
  readonly sizes: readonly number[];
  /** (scale, bias) per row and side, if the model has them. */
  affine?: GPUBuffer;
}

/** A matrix in the planes of its format. */
export interface GpuMatrix extends Matrix {
  readonly parts: readonly MatrixPart[];
  /** The values of the format's codes, if they are in a table. */
  readonly codebook?: GPUBuffer;
}

/** Blocks of a row, padded to whole groups of 32 columns. */
function blocksPerRow(format: QuantFormat, columns: number): number {
  return padTo(columns, GROUP) / format.blockSize;
}

/** Fewest blocks that are whole words in every plane. Writes begin at multiples of it. */
function blocksPerWord(format: QuantFormat): number {
  const bits = format.planes.reduce((bits, plane) => bits | plane.bytesPerBlock, 4);
  return 4 / (bits & -bits);
}

/**
 * Whether two matrices of this shape can be one paired matrix: both sides have to begin on a whole
 * word.
 */
export function canPair(format: QuantFormat, rows: number, columns: number): boolean {
  return rows * blocksPerRow(format, columns) % blocksPerWord(format) === 0;
}

/** Allocates a matrix; its weights are written by {@linkcode MatrixWriter}. Errors: GpuMemoryError. */
export function allocateMatrix(
  device: Gpu,
  label: string,
  format: QuantFormat,
  shape: MatrixShape,
): GpuMatrix {
  // Parts have whole groups of 32 rows, since a paired product writes int8 groups of 32 outputs.
  // With experts, each expert has groups of its own.
  const { rows, columns, sides = 1, unit = GROUP } = shape;
  const rowBytes = rowBytesOf(format, columns);
  const most = mostRows(device, format, shape);
  // Parts also begin on a whole word.
  const step = canPair(format, unit, columns) ? unit : blocksPerWord(format) * unit;
  const partRows = most >= rows ? rows : Math.max(step, Math.floor(most / step) * step);
  const parts: MatrixPart[] = [];
  for (let first = 0; first < rows; first += partRows) {
    const count = Math.min(partRows, rows - first);
    const sizes = rowBytes.map((bytes) => padTo(sides * count * bytes, 16));
    const offsets: number[] = [];
    let size = 0;
    for (const bytes of sizes) {
      offsets.push(size);
      size += padTo(bytes, 256);
    }
    const buffer = device.buffer(label, size, "weights");
    parts.push({ first, rows: count, buffer, offsets, sizes });
  }
  const codebook = codebookBuffer(device, format);
  return { label, format, rows, columns, sides, parts, ...(codebook ? { codebook } : {}) };
}

/** Bytes of a row in each plane. */
function rowBytesOf(format: QuantFormat, columns: number): number[] {
  const rowBlocks = blocksPerRow(format, columns);
  return format.planes.map((plane) => plane.bytesPerBlock * rowBlocks);
}

/** Most rows of each side that fit into a part. */
function mostRows(
  device: Gpu,
  format: QuantFormat,
  { columns, sides = 1 }: MatrixShape,
): number {
  const rowBytes = rowBytesOf(format, columns);
  const widest = sides * Math.max(...rowBytes);
  const whole = sides * rowBytes.reduce((sum, bytes) => sum + bytes + 256, 0);
  return Math.min(device.maxBindingSize / widest, device.gpu.limits.maxBufferSize / whole);
}

/** Whether a matrix of this shape is one part. */
export function isWhole(device: Gpu, format: QuantFormat, shape: MatrixShape): boolean {
  return mostRows(device, format, shape) >= shape.rows;
}

/** A paired matrix that is one part as one without sides, in whose memory one side follows the other. */
export function withoutSides(matrix: GpuMatrix): GpuMatrix {
  const rows = matrix.sides * matrix.rows;
  const parts = matrix.parts.map((part) => ({ ...part, rows: matrix.sides * part.rows }));
  return { ...matrix, rows, sides: 1, parts };
}

/** The bindings of a part's planes, named as its format's snippet reads them. */
export function bindWeights(matrix: GpuMatrix, part: MatrixPart): Record<string, Resource> {
  const bindings: Record<string, Resource> = {};
  if (matrix.codebook) bindings.w_codebook = matrix.codebook;
  matrix.format.planes.forEach((plane, i) => {
    const [offset, size] = [part.offsets[i], part.sizes[i]];
    bindings[`w_${plane.name}`] = { buffer: part.buffer, offset, size };
  });
  return bindings;
}

/** Sets a scale and a bias for each row of a matrix: y = scale * (w x) + bias, side after side. */
export function setAffine(
  device: Gpu,
  matrix: GpuMatrix,
  affine: Affine,
): void {
  for (const part of matrix.parts) {
    const data = new Float32Array(2 * matrix.sides * part.rows);
    for (let i = 0; i < matrix.sides * part.rows; i++) {
      const row = Math.floor(i / part.rows) * matrix.rows + part.first + i % part.rows;
      data[2 * i] = affine.scale[row];
      data[2 * i + 1] = affine.bias[row];
    }
    part.affine = device.buffer(`${matrix.label} affine`, data.byteLength, "weights");
    device.write(part.affine, 0, data);
  }
}

/** Writes the rows of one side of a matrix, in order, as they are in the file. */
export class GpuMatrixWriter implements MatrixWriter {
  readonly #device: Gpu;
  readonly #matrix: GpuMatrix;
  readonly #side: number;
  readonly #rowBlocks: number;
  /** Blocks of this side that were written. */
  #written = 0;
  /** Blocks that wait for the next ones, because writes begin and end on whole words. */
  #pending = new Uint8Array(0);

  constructor(device: Gpu, matrix: GpuMatrix, side: 0 | 1 = 0) {
    this.#device = device;
    this.#matrix = matrix;
    this.#side = side;
    this.#rowBlocks = blocksPerRow(matrix.format, matrix.columns);
  }

  /** Appends whole rows of GGUF blocks. */
  append(rows: Uint8Array): void {
    const { blockBytes } = this.#matrix.format;
    const padded = this.#padRows(rows);
    const bytes = this.#pending.length > 0 ? concat(this.#pending, padded) : padded;
    const words = blocksPerWord(this.#matrix.format) * blockBytes;
    const whole = bytes.length - bytes.length % words;
    this.#write(bytes.subarray(0, whole));
    this.#pending = bytes.slice(whole);
  }

  /** Writes the rest. To be called once, after the last row. */
  finish(): void {
    this.#write(this.#pending);
    this.#pending = new Uint8Array(0);
  }

  /**
   * Rows of floats may end within a group, which is filled with zeros. Quantized rows are whole
   * groups.
   */
  #padRows(rows: Uint8Array): Uint8Array {
    const { format, columns } = this.#matrix;
    if (columns % GROUP === 0) return rows;
    const from = columns / format.blockSize * format.blockBytes;
    const to = this.#rowBlocks * format.blockBytes;
    const count = rows.length / from;
    const padded = new Uint8Array(count * to);
    for (let i = 0; i < count; i++) padded.set(rows.subarray(i * from, (i + 1) * from), i * to);
    return padded;
  }

  #write(bytes: Uint8Array): void {
    const { format, parts } = this.#matrix;
    let rest = bytes;
    while (rest.length > 0) {
      const row = Math.floor(this.#written / this.#rowBlocks);
      const part = parts.find((part) => row < part.first + part.rows)!;
      const partEnd = (part.first + part.rows) * this.#rowBlocks;
      const blocks = Math.min(rest.length / format.blockBytes, partEnd - this.#written);
      const block = this.#side * part.rows * this.#rowBlocks + this.#written -
        part.first * this.#rowBlocks;
      this.#upload(part, block, rest.subarray(0, blocks * format.blockBytes), blocks);
      this.#written += blocks;
      rest = rest.subarray(blocks * format.blockBytes);
    }
  }

  #upload(part: MatrixPart, block: number, bytes: Uint8Array, blocks: number): void {
    const { format } = this.#matrix;
    const write = (plane: number, from: number, words: Uint8Array) => {
      const offset = part.offsets[plane] + from * format.planes[plane].bytesPerBlock;
      this.#device.write(part.buffer, offset, words);
    };
    const repacker = repackerOf(format);
    if (!repacker) {
      const rest = bytes.length % 4;
      return write(0, block, rest === 0 ? bytes : concat(bytes, new Uint8Array(4 - rest)));
    }
    let from = block;
    for (const piece of repacker.pieces(bytes, blocks)) {
      piece.planes.forEach((words, plane) => write(plane, from, words));
      from += piece.blocks;
    }
  }
}

function concat(a: Uint8Array, b: Uint8Array): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(a.length + b.length);
  joined.set(a);
  joined.set(b, a.length);
  return joined;
}

const buffers = new WeakMap<Gpu, Map<Codebook, GPUBuffer>>();

/** The codebook that the format's snippet reads as `w_codebook`; undefined if it reads none. */
function codebookBuffer(device: Gpu, format: QuantFormat): GPUBuffer | undefined {
  const { codebook } = format;
  if (!codebook) return undefined;
  const ofDevice = buffers.get(device) ?? new Map<Codebook, GPUBuffer>();
  buffers.set(device, ofDevice);
  let buffer = ofDevice.get(codebook);
  if (!buffer) {
    buffer = device.buffer(`${format.name} codebook`, codebook.words.byteLength, "weights");
    device.write(buffer, 0, codebook.words);
    ofDevice.set(codebook, buffer);
  }
  return buffer;
}
