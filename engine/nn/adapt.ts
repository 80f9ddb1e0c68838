// LoRA adapters by sequence: a pass over the operations of a step that adds, to each product by a matrix
// which adapters change, B (s A x) of each adapter, where s is a factor of the row's sequence, and zero
// where it does not have that adapter. So one step serves sequences with different adapters, as in Punica
// (Chen et al. 2023) and S-LoRA (Sheng et al. 2023), by the products of all matrices. An adapter that no
// sequence of a step has costs nothing.

import {
  type Activation,
  type DeferredOperation,
  type Device,
  type FloatRows,
  GROUP,
  isQuantized,
  type MakersOf,
  type Matrix,
  type OperandsOf,
  padTo,
} from "../../kernels/mod.ts";
import type { AdaptedRows } from "../weights/mod.ts";
import type { Scratch } from "./scratch.ts";
import { overRows, type StepLimits, type StepOperation } from "./step.ts";

/** The adapters of a network, and the factors of the rows of a step. */
export interface NetworkAdapters {
  /** What they add, by matrix. */
  readonly adapted: ReadonlyMap<Matrix, readonly AdaptedRows[]>;
  /** Number of adapters. */
  readonly count: number;
  /** Factors of the step's rows: [rows, adapters]. */
  readonly scales: FloatRows;
  /** Factors of the rows whose output is wanted: [outputs, adapters]. */
  readonly outputScales: FloatRows;
}

/** What the pass makes operations and values by. */
export interface AdaptTools extends NetworkAdapters {
  makersOf(device: Device): MakersOf<DeferredOperation>;
  readonly scratch: Scratch;
  readonly limits: StepLimits;
}

/** A product among the operations of a step. */
interface Product {
  readonly operation: StepOperation;
  readonly x: Activation;
  /** The columns of y for the first row of each matrix. */
  readonly parts: readonly { readonly matrix: Matrix; readonly first: number }[];
}

/** The operations of steps in which sequences have adapters. */
export function adapt(operations: readonly StepOperation[], tools: AdaptTools): StepOperation[] {
  const all: StepOperation[] = [];
  for (const operation of operations) {
    const product = productOf(operation);
    const isAdapted = product?.parts.some(({ matrix }) => tools.adapted.has(matrix));
    if (!product || !isAdapted) all.push(operation);
    else if (product.parts[0]!.matrix.sides === 2) addPair(all, product, tools);
    else addProduct(all, product, resultOf(operation), tools);
  }
  return all;
}

function productOf(operation: StepOperation): Product | undefined {
  const { over } = operation;
  if (over?.call.operation === "linear") {
    const [matrix, x, , { first = 0 } = {}] = over.call.operands as OperandsOf<"linear">;
    return { operation, x, parts: [{ matrix, first }] };
  }
  if (over?.call.operation !== "stackedLinear") return undefined;
  const [parts, x] = over.call.operands as OperandsOf<"stackedLinear">;
  return { operation, x, parts };
}

/** The rows that a product without sides writes. */
function resultOf({ over }: StepOperation): FloatRows {
  const [, , y] = over!.call.operands as OperandsOf<"linear" | "stackedLinear">;
  return y as FloatRows;
}

/** A product, and what adapters add to it. */
function addProduct(
  all: StepOperation[],
  { operation, x, parts }: Product,
  y: FloatRows,
  tools: AdaptTools,
): void {
  const make = tools.makersOf(operation.device!);
  const after: StepOperation[] = [];
  for (const { matrix, first } of parts) {
    for (const { adapter, down, up, side, ...rows } of tools.adapted.get(matrix) ?? []) {
      const own = (made: DeferredOperation) => ({ ...beside(operation, made), adapter });
      const isInteger = isQuantized(x) && down.format.kind === "integer";
      const input = isInteger ? x : floatsOf(x, all, tools);
      const low = lowRows(operation, down.rows, tools);
      const scales = operation.isOverOutputs ? tools.outputScales : tools.scales;
      all.push(
        own(make.linear(down, input, low)),
        own(make.elementwise("weigh", { rows: low }, {
          x: { rows: scales, first: adapter, columns: 1 },
          repeat: low.columns,
        })),
      );
      const column = first + side * padTo(matrix.rows, GROUP) + rows.first;
      after.push(own(make.linear(up, low, y, { accumulate: true, first: column })));
    }
  }
  // x is read before, in case the product changes it.
  all.push(operation, ...after);
}

/** A pair of products and their gate: the products of both sides, what adapters add, and the gate. */
function addPair(all: StepOperation[], { operation, x, parts }: Product, tools: AdaptTools): void {
  const device = operation.device!;
  const make = tools.makersOf(device);
  const [matrix, , y, { activation = "silu" } = {}] = operation.over!.call
    .operands as OperandsOf<"linear">;
  const { rows } = operation.over!.limitsOf(tools.limits);
  const both = tools.scratch.floats(
    "gate and up",
    rows,
    2 * padTo(matrix.rows, GROUP),
    matrix.rows,
  );
  const sides = device.sidesOf(matrix);
  const product = sides.length === 1
    ? make.linear(sides[0]!.matrix, x, both)
    : make.stackedLinear(sides, x, both);
  addProduct(all, { operation: beside(operation, product), x, parts }, both, tools);
  const gate = (to: Activation) => make.activate(both, to, { activation, gated: true });
  const { outputName } = operation;
  all.push({
    ...beside(operation, gate(y)),
    outputName,
    ...isQuantized(y) && {
      groups: {
        columns: y.columns,
        apart: (to) => [beside(operation, gate(to)), beside(operation, make.quantize(to, y))],
      },
    },
  });
}

/** The f32 of which int8 groups were made, by an operation that is taken apart if need be. */
function floatsOf(
  x: Activation,
  all: StepOperation[],
  { scratch, limits }: AdaptTools,
): FloatRows {
  if (!isQuantized(x)) return x;
  const index = all.findLastIndex(({ writes }) => writes.includes(x.groups));
  const { over, groups, outputName = "rows" } = all[index]!;
  if (over?.call.operation === "quantize") {
    return (over.call.operands as OperandsOf<"quantize">)[0];
  }
  const rows = scratch.floats(outputName, limits.rows, x.columns);
  const own = layerOf(all[index]!);
  const [floats, quantize] = groups!.apart(rows);
  all.splice(index, 1, { ...floats, ...own, outputName }, { ...quantize, ...own });
  return rows;
}

/** A value for the result of A x. */
function lowRows({ over }: StepOperation, rank: number, { scratch, limits }: AdaptTools) {
  return scratch.floats("low rank", over!.limitsOf(limits).rows, rank);
}

/** An operation of the same layer, over the same rows. */
function beside(operation: StepOperation, made: DeferredOperation): StepOperation {
  const { isOverOutputs, rowsOf, over } = operation;
  return {
    ...layerOf(operation),
    ...(isOverOutputs && { isOverOutputs }),
    ...(rowsOf && { rowsOf }),
    ...overRows(made, over),
    over: { ...over!, call: made.call },
    outputName: made.output?.floats.label,
  };
}

/** Where an operation is in the model. */
function layerOf({ layer, block, device }: StepOperation) {
  return {
    ...(layer !== undefined && { layer }),
    ...(block && { block }),
    ...(device && { device }),
  };
}
