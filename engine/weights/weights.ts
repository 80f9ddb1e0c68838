// Makes the matrices of a model from its tensors, on the device and in their own quantization. Rows
// of several tensors with the same input are stacked into one matrix, so that one product serves
// all. `<tensor>.scale` and `<tensor>.bias` become the affine part of the rows. What LoRA adapters add to
// the product by a matrix is kept beside it.

import { GROUP, type Matrix, padTo, quantFormat, type StackedMatrix } from "../../kernels/mod.ts";
import { UnsupportedModelError } from "../errors.ts";
import type { GgufFile, TensorBytes } from "../gguf/mod.ts";
import type { Adapter, LowRankPair } from "./adapter.ts";
import { loadAffine, type StackOptions } from "./affine.ts";
import { baseOf, countOf, type Rows, shapeOf } from "./rows.ts";
import { type Placement, type SourceOptions, TensorSource } from "./tensor_source.ts";

/** GGML's number of f32. */
const F32 = 0;

/** Matrices with the same input, each a product of its own. Their outputs lie side by side. */
export interface Stack {
  readonly parts: readonly StackedMatrix[];
  /** Output columns of all parts. */
  readonly columns: number;
  /** All matrices that read the input. */
  readonly readers: readonly Matrix[];
}

/** Gate and up projections of a feed-forward block: one paired matrix, or two stacked ones. */
export type GatedStack =
  | { readonly paired: Matrix; readonly columns: number; readonly readers: readonly Matrix[] }
  | { readonly stack: Stack; readonly columns: number; readonly readers: readonly Matrix[] };

/** What adapters add to the product by rows of a matrix. */
export interface AdaptedRows extends LowRankPair {
  /** Side of a paired matrix. */
  readonly side: 0 | 1;
  /** The first of the rows. */
  readonly first: number;
}

/** The callbacks of a loader, and LoRA adapters of the weights. */
export interface WeightOptions extends SourceOptions {
  adapters?: readonly Adapter[];
}

/** Loads weights by their GGUF names. */
export class WeightLoader extends TensorSource {
  /** What adapters add, by the matrix of the weight. */
  readonly adapted = new Map<Matrix, AdaptedRows[]>();
  readonly #adapters: readonly Adapter[];

  constructor(
    placement: Placement,
    gguf: GgufFile,
    reader: TensorBytes,
    options: WeightOptions = {},
  ) {
    super(placement, gguf, reader, options);
    this.#adapters = options.adapters ?? [];
  }

  /**
   * A table [rows, columns] for look-ups, which adapters do not change. Errors: GgufError if it is
   * missing or has another shape.
   */
  async table(rows: Rows, columns: number): Promise<Matrix> {
    return await this.#matrix([rows], columns, {});
  }

  /**
   * A matrix [rows, columns] of f32 that was computed, with the biases of a tensor unless they are in
   * it. Errors: GgufError.
   *
   * @param name the tensor that it was computed from
   */
  computed(
    name: string,
    values: Float32Array<ArrayBuffer>,
    columns: number,
    { bias = "optional" }: { bias?: "required" | "optional" | "none" } = {},
  ): Stack {
    const device = this.deviceOf(name);
    const rows = values.length / columns;
    const matrix = device.matrix(name, quantFormat(F32)!, { rows, columns });
    const writer = device.matrixWriter(matrix);
    writer.append(new Uint8Array(values.buffer));
    writer.finish();
    if (bias !== "none") loadAffine(this, matrix, [{ name, rows }], { bias });
    return { parts: [{ matrix, first: 0 }], columns: rows, readers: [matrix] };
  }

  /** The rows of several tensors, in order. Neighbours of one type become one matrix. */
  async stack(
    sources: readonly Rows[],
    columns: number,
    options: StackOptions = {},
  ): Promise<Stack> {
    const parts: StackedMatrix[] = [];
    let first = 0;
    this.#checkBiases(sources);
    for (let from = 0, to = 0; from < sources.length; from = to) {
      const type = this.#typeOf(sources[from]);
      while (to < sources.length && this.#typeOf(sources[to]) === type) to++;
      const members = sources.slice(from, to);
      const matrix = await this.#matrix(members, columns, options);
      parts.push({ matrix, first });
      let row = 0;
      for (const member of members) {
        this.#adapt(matrix, member, { side: 0, first: row }, columns, options.gain);
        row += countOf(member);
      }
      first += row;
    }
    return { parts, columns: first, readers: readersOf(parts) };
  }

  /** Gate and up projections, paired if both have the same type. */
  async gated(
    gate: Rows,
    up: Rows,
    columns: number,
    options: StackOptions = {},
  ): Promise<GatedStack> {
    this.#checkBiases([gate, up]);
    const rows = countOf(gate);
    const format = this.formatOf(gate.name);
    const adapted = [gate, up].some((side) => this.#adapters.some((one) => one.adapts(side)));
    const sameType = this.#typeOf(gate) === this.#typeOf(up);
    if (!sameType || !this.deviceOf(gate.name).canPair(format, rows, columns, adapted)) {
      return this.#gatedApart(gate, up, columns, options);
    }
    const matrix = await this.#paired(gate, up, columns, options);
    for (const [i, member] of [gate, up].entries()) {
      this.#adapt(matrix, member, { side: i as 0 | 1, first: 0 }, columns, options.gain);
    }
    return { paired: matrix, columns: rows, readers: [matrix] };
  }

  /** The matrices of all experts, [experts * rows, columns], none of which is split. */
  async experts(rows: Rows, columns: number, options: StackOptions = {}): Promise<Matrix> {
    return await this.#matrix([rows], columns, { ...options, biasFirst: true }, rows.matrices);
  }

  /**
   * Gate and up projections of all experts, paired. Errors: UnsupportedModelError if their types
   * differ.
   */
  async gatedExperts(
    gate: Rows,
    up: Rows,
    columns: number,
    options: StackOptions = {},
  ): Promise<Matrix> {
    this.#checkBiases([gate, up]);
    this.#checkShapes([gate, up], columns);
    const format = this.formatOf(gate.name);
    const sameType = this.#typeOf(gate) === this.#typeOf(up);
    if (!sameType || !this.deviceOf(gate.name).canPair(format, countOf(gate), columns)) {
      const state = sameType ? "have odd sizes" : "differ in type";
      throw new UnsupportedModelError(
        `Cannot load "${this.path}": "${gate.name}" and "${up.name}" ${state}`,
      );
    }
    return await this.#paired(gate, up, columns, options, gate.matrices);
  }

  /** Two projections of one type, row beside row. */
  async #paired(
    gate: Rows,
    up: Rows,
    columns: number,
    options: StackOptions,
    experts = 0,
  ): Promise<Matrix> {
    const rows = countOf(gate);
    const shape = {
      rows,
      columns,
      sides: 2 as const,
      ...(experts ? { unit: rows / experts } : {}),
    };
    this.#checkShapes([gate, up], columns);
    const device = this.deviceOf(gate.name);
    const matrix = device.matrix(gate.name, this.formatOf(gate.name), shape);
    for (const [side, source] of [gate, up].entries()) {
      const writer = device.matrixWriter(matrix, side as 0 | 1);
      await this.stream(source, columns, writer);
      writer.finish();
    }
    loadAffine(this, matrix, [gate, up], { ...options, biasFirst: true });
    return matrix;
  }

  async #gatedApart(
    gate: Rows,
    up: Rows,
    columns: number,
    options: StackOptions,
  ): Promise<GatedStack> {
    const rows = countOf(gate);
    const [first, second] = [
      await this.stack([gate], columns, { ...options, biasFirst: true }),
      await this.stack([up], columns, { ...options, biasFirst: true }),
    ];
    const shifted = padTo(rows, GROUP);
    const shift = <T extends { first: number }>(part: T) => ({ ...part, first: shifted });
    const parts = [...first.parts, ...second.parts.map(shift)];
    const readers = readersOf(parts);
    return { stack: { parts, columns: shifted + rows, readers }, columns: rows, readers };
  }

  async #matrix(
    members: readonly Rows[],
    columns: number,
    options: StackOptions,
    experts = 0,
  ): Promise<Matrix> {
    this.#checkShapes(members, columns);
    const rows = members.reduce((sum, member) => sum + countOf(member), 0);
    const label = members[0].name;
    const shape = { rows, columns, ...(experts ? { unit: rows / experts } : {}) };
    const device = this.deviceOf(label);
    const matrix = device.matrix(label, this.formatOf(label), shape);
    const writer = device.matrixWriter(matrix);
    for (const member of members) await this.stream(member, columns, writer);
    writer.finish();
    loadAffine(this, matrix, members, options);
    return matrix;
  }

  /** Keeps what adapters add to the product by rows of a matrix. */
  #adapt(
    matrix: Matrix,
    source: Rows,
    place: Pick<AdaptedRows, "side" | "first">,
    columns: number,
    gain = 1,
  ): void {
    const device = this.deviceOf(source.name);
    const pairs = this.#adapters.flatMap((one) => one.pairsFor(device, source, { columns, gain }));
    if (pairs.length === 0) return;
    const known = this.adapted.get(matrix) ?? [];
    this.adapted.set(matrix, [...known, ...pairs.map((pair) => ({ ...pair, ...place }))]);
  }

  #typeOf({ name }: Rows): number {
    return this.inventory.find(name).type;
  }

  /** Checked before memory is allocated for the sizes in the metadata. */
  #checkShapes(members: readonly Rows[], columns: number): void {
    for (const rows of members) this.inventory.take(rows.name, shapeOf(rows, columns));
  }

  /** Either all tensors with the same input have biases, or none. */
  #checkBiases(members: readonly Rows[]): void {
    this.inventory.hasAll([...new Set(members.map((member) => `${baseOf(member)}.bias`))]);
  }
}

function readersOf(parts: readonly StackedMatrix[]): readonly Matrix[] {
  return parts.map(({ matrix }) => matrix);
}
