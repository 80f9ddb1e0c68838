// The facts of an operation, as ../operands.ts and the files beside this one tell them: its name, the buffers that
// it reads and writes, and how much work it is.

import { type Activation, bufferOf, type FloatRows } from "./activation.ts";
import type { Buffer, Operation, Work } from "../operation.ts";

/** The facts of an operation that do not depend on its binding. */
export type Described = Omit<Operation, "encode">;

/** An object with the buffer of a value that an operation reads or writes. */
type Operand = Buffer | Activation | { readonly rows: FloatRows };

/** The work of an operation for each row of a step, and for each sequence. */
interface RowWork {
  /** Bytes read. */
  readonly reads: number;
  readonly writes: number;
  readonly flops: number;
  /** Bytes that are read once for all rows. */
  readonly weights?: number;
  /** Bytes of the state of a sequence, which is read and written. */
  readonly state?: number;
}

/** The facts of an operation: what it reads and writes, and its work. */
export function described(
  name: string,
  reads: readonly Operand[],
  writes: readonly Operand[],
  work: RowWork | Operation["work"],
): Described {
  return {
    name,
    reads: reads.map(bufferBehind),
    writes: writes.map(bufferBehind),
    output: writes.map(rowsBehind).find((rows) => rows !== undefined),
    work: typeof work === "function" ? work : byRows(work),
  };
}

function byRows({ reads, writes, flops, weights = 0, state = 0 }: RowWork): Operation["work"] {
  return ({ rows, sequences }): Work => ({
    bytesRead: weights + rows * reads + sequences * state,
    bytesWritten: rows * writes + sequences * state,
    flops: rows * flops,
  });
}

function bufferBehind(operand: Operand): Buffer {
  if ("rows" in operand) return operand.rows.floats;
  return "columns" in operand ? bufferOf(operand) : operand;
}

function rowsBehind(operand: Operand): FloatRows | undefined {
  if ("rows" in operand) return operand.rows;
  // A buffer of the CPU has floats, too.
  return "columns" in operand && "floats" in operand ? operand : undefined;
}

/** Floating-point operations per value of a norm: square, sum, scale, weight. */
export const NORM_FLOPS = 4;

/** Floating-point operations of an activation function or a rotated pair, roughly. */
export const FUNCTION_FLOPS = 8;
