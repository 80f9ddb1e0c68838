// Has the engine optimize products while the rest of a model is read. V8 compiles a function quickly
// first, and optimizes it in the background once it has run for some milliseconds. Without this, the
// first steps of a model would compute with the slow code and wait for the compiler.

import { floatRows, quantizedRows } from "../ops/activation.ts";
import type { CpuCore } from "./core.ts";
import type { CpuFormat } from "./formats/mod.ts";
import type { WeightMatrix } from "./matrix.ts";
import { type CpuBuffer, giveBuffer, takeBuffer } from "./memory.ts";
import { linear } from "./linear.ts";
import { isFloatFormat } from "./linear/float_kernel.ts";

/** Tokens of a step that decodes and of one that reads a prompt: their kernels differ. */
const TOKENS = [1, 16];
/** Rows that are multiplied: V8 optimizes what has run some 13 million bytes of its code. */
const ROWS = 128;
/** Weights of a matrix below which the first steps are short anyway. */
const LEAST_WEIGHTS = 2 ** 20;

/** Runs the products of each format once, with the first large matrix that is read. */
export class ProductOptimizer {
  readonly #core: CpuCore;
  readonly #done = new Set<CpuFormat>();

  constructor(core: CpuCore) {
    this.#core = core;
  }

  /** Takes a complete matrix. */
  take(matrix: WeightMatrix): void {
    const { unit, columns, layout } = matrix;
    if (this.#done.has(layout) || unit * columns < LEAST_WEIGHTS) return;
    this.#done.add(layout);
    this.#multiply(matrix.top(this.#core, Math.min(unit, ROWS)));
  }

  /** Multiplies zeros, since only the time counts. */
  #multiply(matrix: WeightMatrix): void {
    const core = this.#core;
    const buffers: CpuBuffer[] = [];
    const memory = {
      groupBytes: core.groupBytes,
      buffer(label: string, bytes: number): CpuBuffer {
        const buffer = takeBuffer(core.work, label, bytes);
        buffers.push(buffer);
        return buffer;
      },
    };
    const most = Math.max(...TOKENS);
    const rowsOf = isFloatFormat(matrix.layout) ? floatRows : quantizedRows;
    const x = rowsOf(memory, "zeros", most, matrix.columns);
    const y = floatRows(memory, "products of zeros", most, matrix.rows);
    const product = linear(core, matrix, x, y, {});
    for (const tokens of TOKENS) product(tokens);
    for (const buffer of buffers) giveBuffer(core.work, buffer);
  }
}
