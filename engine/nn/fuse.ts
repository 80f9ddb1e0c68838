// Fusion: a pass over the operations of a step that joins a norm with the operation before it, where
// that one wrote the rows which are normed. Both stay in the list: the first does the work of both, and
// each can still run alone, for those who look at what is between them.

import {
  type Activation,
  type Buffer,
  bufferOf,
  type DeferredOperation,
  type Device,
  type FloatRows,
  isQuantized,
  makeOn,
  type MakersOf,
  type Norm,
  type OperandsOf,
  type OperationName,
  withParts,
} from "../../kernels/mod.ts";
import type { Scratch } from "./scratch.ts";
import { overRows, type StepOperation } from "./step.ts";

/** What the pass makes operations and values by. */
export interface FusionTools {
  makersOf(device: Device): MakersOf<DeferredOperation>;
  readonly scratch: Scratch;
}

/** A norm of whole rows into a value of the step, and the operation before it. */
interface Pair {
  readonly before: StepOperation;
  readonly operation: StepOperation;
  readonly device: Device;
  /** The rows that the operation before has written. */
  readonly x: FloatRows;
  readonly y: Activation;
  readonly norm: Norm;
}

/**
 * The operations of a step, with norms joined to what is before them.
 *
 * @param others operations after these, in steps with outputs
 */
export function fuse(
  operations: readonly StepOperation[],
  others: readonly StepOperation[],
  tools: FusionTools,
): StepOperation[] {
  const all = [...operations];
  for (let at = 1; at < all.length; at++) {
    const pair = pairAt(all, at, tools);
    if (!pair) continue;
    const joined = afterNorm(pair, tools) ?? afterProduct(pair, all.slice(at + 1), others, tools);
    if (joined) all.splice(at - 1, joined.length, ...joined);
  }
  return all;
}

/** The call of an operation over rows, if it is one of that name. */
function operandsOf<Name extends OperationName>(
  { over }: StepOperation,
  name: Name,
): OperandsOf<Name> | undefined {
  return over?.call.operation === name ? over.call.operands as OperandsOf<Name> : undefined;
}

function pairAt(
  all: readonly StepOperation[],
  at: number,
  { scratch }: FusionTools,
): Pair | undefined {
  const [before, operation] = [all[at - 1]!, all[at]!];
  const { device } = operation;
  const [x, y, norm, options = {}] = operandsOf(operation, "norm") ?? [];
  if (!x || !y || !norm || !device || before.device !== device) return undefined;
  if (before.adapter !== undefined) return undefined; // Not every step runs it.
  if (norm.kind !== "rms" || norm.bias || !norm.weight) return undefined;
  if (options.accumulate || options.source || options.vectors || options.next) return undefined;
  const isNew = scratch.isPassing(bufferOf(y)) && bufferOf(y) !== x.floats;
  return isNew ? { before, operation, device, x, y, norm } : undefined;
}

/** A norm of rows to which a norm was added, as at the end of a block in Gemma: one kernel has both. */
function afterNorm(
  { before, operation, device, ...own }: Pair,
  { makersOf }: FusionTools,
): StepOperation[] | undefined {
  const [x, sum, norm, options = {}] = operandsOf(before, "norm") ?? [];
  if (!x || !sum || !norm || !options.accumulate || options.vectors) return undefined;
  if (bufferOf(sum) !== own.x.floats || x.columns !== sum.columns) return undefined;
  const next = { norm: own.norm, y: own.y };
  const both = makersOf(device).norm(x, sum, norm, { ...options, next });
  return [
    { ...remade(before, both), encodeAlone: before.encode },
    { ...operation, groups: undefined, encode: () => {}, encodeAlone: operation.encode },
  ];
}

/**
 * A norm of rows to which a product was added: in steps of few rows, that product computes it too, but
 * for the division by the root mean square, which all that read the norm have to do.
 */
function afterProduct(
  { before, operation, device, x, y, norm }: Pair,
  after: readonly StepOperation[],
  others: readonly StepOperation[],
  { makersOf, scratch }: FusionTools,
): StepOperation[] | undefined {
  const [matrix, input, sum, options = {}] = operandsOf(before, "linear") ?? [];
  if (!matrix || !input || !sum || !options.accumulate) return undefined;
  if (bufferOf(sum) !== x.floats || matrix.rows !== sum.columns) return undefined;
  const most = device.mostFusedNormRows(matrix);
  const forms = most > 0 ? formsOf(y, device, [...after, ...others]) : undefined;
  if (!forms || others.some((other) => forms.readers.has(other))) return undefined;
  const { epsilon: deferredEpsilon } = norm;
  const floats = isQuantized(y) ? undefined : scratch.withSquares(y, deferredEpsilon);
  const undivided = <T>(operand: T): T =>
    withParts(operand, (part) => {
      if (floats && "floats" in part && part.floats === bufferOf(y)) return { ...part, ...floats };
      const isForm = "groups" in part && forms.quantized.has(part.groups as Buffer);
      return isForm ? { ...part, deferredEpsilon } : undefined;
    });
  const normed = undivided(y);
  const makers = makersOf(device);
  const both = makers.linear(matrix, input, sum, { ...options, norm: { norm, y: normed } });
  const own = remade(operation, makers.norm(x, normed, norm));
  return [
    { ...remade(before, both), encodeAlone: before.encode },
    {
      ...own,
      groups: undefined, // Its int8 groups carry sums of squares, which those of quantize() do not.
      encode: (pass, step) => own.over.shapeOf(step).rows > most && own.encode(pass, step),
      encodeAlone: own.encode,
    },
    ...after.map((reader) => {
      if (!forms.readers.has(reader)) return reader;
      const { operation: name, operands } = reader.over!.call;
      return remade(reader, makeOn(makers, name, operands.map(undivided) as typeof operands));
    }),
  ];
}

/** Products, which divide rows by their root mean square if need be. */
const PRODUCTS: ReadonlySet<OperationName> = new Set(["linear", "stackedLinear", "expertLinear"]);

/**
 * The operations that read rows, and their forms in int8. Undefined if not all of these operations are
 * products on the same device.
 */
function formsOf(
  y: Activation,
  device: Device,
  operations: readonly StepOperation[],
): { readers: ReadonlySet<StepOperation>; quantized: ReadonlySet<Buffer> } | undefined {
  const values = new Set([bufferOf(y)]);
  const quantized = new Set(isQuantized(y) ? [y.groups] : []);
  const readers = new Set<StepOperation>();
  for (const operation of operations) {
    if (operation.writes.some((buffer) => values.has(buffer))) return undefined;
    if (!operation.reads.some((buffer) => values.has(buffer))) continue;
    if (operation.device !== device || !operation.over) return undefined;
    readers.add(operation);
    const [, groups] = operandsOf(operation, "quantize") ?? [];
    if (groups) {
      values.add(groups.groups);
      quantized.add(groups.groups);
    } else if (!PRODUCTS.has(operation.over.call.operation)) return undefined;
  }
  return { readers, quantized };
}

/** The step's operation with another operation of the device, over the same rows. */
function remade(operation: StepOperation, made: DeferredOperation) {
  const over = { ...operation.over!, call: made.call };
  return { ...operation, ...overRows(made, over), over };
}
