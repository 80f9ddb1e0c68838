// Makes the matrices of a model from its tensors, on the GPU and in their own quantization.
// Rows of several tensors that read the same input are stacked into one matrix, so that one
// product serves them all; `<tensor>.scale` and `<tensor>.bias` go along as the rows' affine part,
// and LoRA adapters as products beside them.

import {
  allocateMatrix,
  canPair,
  type Device,
  GROUP,
  type Matrix,
  MatrixWriter,
  padTo,
} from "../kernels/mod.ts";
import type { Adapter, LowRankPair } from "./adapter.ts";
import { loadAffine, type StackOptions } from "./affine.ts";
import { UnsupportedModelError } from "./errors.ts";
import type { GgufFile, TensorBytes } from "./gguf/mod.ts";
import { nameOf, type Rows } from "./rows.ts";
import { type SourceOptions, TensorSource } from "./tensor_source.ts";

/** A matrix and the first of the output columns that it gives. */
export interface StackedMatrix {
  readonly matrix: Matrix;
  readonly first: number;
}

/** Matrices that share their input; one product each. Their outputs lie side by side. */
export interface Stack {
  readonly parts: readonly StackedMatrix[];
  /** Output columns of all parts. */
  readonly columns: number;
  /** LoRA: products that are added to the outputs from column `first` on. */
  readonly adapters: readonly (LowRankPair & { readonly first: number })[];
  /** All matrices that read the input. */
  readonly readers: readonly Matrix[];
}

/** Gate and up projections of a feed-forward block: one paired matrix, or two stacked ones. */
export type GatedStack =
  | { readonly paired: Matrix; readonly columns: number; readonly readers: readonly Matrix[] }
  | { readonly stack: Stack; readonly columns: number; readonly readers: readonly Matrix[] };

/** What a loader reports to and obeys, and what it adds to the weights. */
export interface WeightOptions extends SourceOptions {
  adapters?: readonly Adapter[];
}

/** Loads weights by their GGUF names. */
export class WeightLoader extends TensorSource {
  readonly #adapters: readonly Adapter[];

  constructor(
    device: Device,
    gguf: GgufFile,
    reader: TensorBytes,
    options: WeightOptions = {},
  ) {
    super(device, gguf, reader, options);
    this.#adapters = options.adapters ?? [];
  }

  /**
   * A table [rows, columns] to look rows up in; no adapter can change it.
   * Errors: GgufError where it is missing or of another width.
   */
  async table(name: string, columns: number): Promise<Matrix> {
    return await this.#matrix([name], columns, {});
  }

  /** The rows of several tensors, in order; neighbours of one type become one matrix. */
  async stack(
    sources: readonly Rows[],
    columns: number,
    options: StackOptions = {},
  ): Promise<Stack> {
    const parts: StackedMatrix[] = [];
    const adapters: (LowRankPair & { first: number })[] = [];
    let first = 0;
    for (let from = 0, to = 0; from < sources.length; from = to) {
      const { type } = this.tensor(nameOf(sources[from]));
      while (to < sources.length && this.tensor(nameOf(sources[to])).type === type) to++;
      const members = sources.slice(from, to);
      const matrix = await this.#matrix(members, columns, options);
      parts.push({ matrix, first });
      for (const member of members) {
        for (const pair of this.#adaptersOf(member, options.gain)) {
          adapters.push({ ...pair, first });
        }
        first += this.rowsOf(member);
      }
    }
    return { parts, columns: first, adapters, readers: readersOf(parts, adapters) };
  }

  /** Gate and up projections, paired where both are of one type and no adapter changes them. */
  async gated(gate: Rows, up: Rows, columns: number): Promise<GatedStack> {
    const rows = this.rowsOf(gate);
    const [gateType, upType] = [gate, up].map((side) => this.tensor(nameOf(side)).type);
    const format = this.formatOf(nameOf(gate));
    const adapted = [gate, up].some((side) => this.#adapters.some((one) => one.adapts(side)));
    if (adapted || gateType !== upType || !canPair(format, rows, columns)) {
      return this.#gatedApart(gate, up, columns);
    }
    const matrix = await this.#paired(gate, up, columns);
    return { paired: matrix, columns: rows, readers: [matrix] };
  }

  /** The matrices of all experts [experts * rows, columns], each whole in one part. */
  async experts(name: Rows, columns: number, experts: number): Promise<Matrix> {
    return await this.#matrix([name], columns, { biasFirst: true }, experts);
  }

  /** Gate and up of all experts, paired; both of one type. Errors: UnsupportedModelError. */
  async gatedExperts(gate: Rows, up: Rows, columns: number, experts: number): Promise<Matrix> {
    const rows = this.rowsOf(gate);
    const format = this.formatOf(nameOf(gate));
    const sameType = this.tensor(nameOf(gate)).type === this.tensor(nameOf(up)).type;
    if (!sameType || !canPair(format, rows, columns)) {
      const state = sameType ? "have odd sizes" : "differ in type";
      throw new UnsupportedModelError(
        `Cannot load "${this.path}": "${nameOf(gate)}" and "${nameOf(up)}" ${state}`,
      );
    }
    return await this.#paired(gate, up, columns, experts);
  }

  /** Two projections of one type, row beside row. */
  async #paired(gate: Rows, up: Rows, columns: number, experts = 0): Promise<Matrix> {
    const rows = this.rowsOf(gate);
    const shape = {
      rows,
      columns,
      sides: 2 as const,
      ...(experts ? { unit: rows / experts } : {}),
    };
    const format = this.formatOf(nameOf(gate));
    const matrix = allocateMatrix(this.device, nameOf(gate), format, shape);
    for (const [side, source] of [gate, up].entries()) {
      const writer = new MatrixWriter(this.device, matrix, side as 0 | 1);
      await this.stream(source, columns, writer);
      writer.finish();
    }
    loadAffine(this, matrix, [gate, up], { biasFirst: true });
    return matrix;
  }

  async #gatedApart(gate: Rows, up: Rows, columns: number): Promise<GatedStack> {
    const rows = this.rowsOf(gate);
    const [first, second] = [
      await this.stack([gate], columns, { biasFirst: true }),
      await this.stack([up], columns, { biasFirst: true }),
    ];
    const shifted = padTo(rows, GROUP);
    const shift = <T extends { first: number }>(part: T) => ({ ...part, first: shifted });
    const parts = [...first.parts, ...second.parts.map(shift)];
    const adapters = [...first.adapters, ...second.adapters.map(shift)];
    const readers = readersOf(parts, adapters);
    return { stack: { parts, columns: shifted + rows, adapters, readers }, columns: rows, readers };
  }

  async #matrix(
    members: readonly Rows[],
    columns: number,
    options: StackOptions,
    experts = 0,
  ): Promise<Matrix> {
    const rows = members.reduce((sum, member) => sum + this.rowsOf(member), 0);
    const label = nameOf(members[0]);
    const shape = { rows, columns, ...(experts ? { unit: rows / experts } : {}) };
    const matrix = allocateMatrix(this.device, label, this.formatOf(label), shape);
    const writer = new MatrixWriter(this.device, matrix);
    for (const member of members) await this.stream(member, columns, writer);
    writer.finish();
    loadAffine(this, matrix, members, options);
    return matrix;
  }

  #adaptersOf(source: Rows, gain = 1): LowRankPair[] {
    const shape = this.shapeOf(nameOf(source));
    return this.#adapters.flatMap((one) => one.pairsFor(this.device, source, { shape, gain }));
  }
}

function readersOf(
  parts: readonly StackedMatrix[],
  adapters: readonly LowRankPair[],
): readonly Matrix[] {
  return [...parts.map(({ matrix }) => matrix), ...adapters.map(({ down }) => down)];
}
