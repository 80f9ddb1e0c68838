// What operations are called, and which activations, caches and states they read and write: the same
// on every device. Weights and other constants are not listed.

import { type Activation, bufferOf, type FloatRows, type QuantizedRows } from "./ops/activation.ts";
import type { ActivateOptions } from "./ops/activation_function.ts";
import type { AttentionTiling } from "./ops/attention.ts";
import type { Columns, ElementwiseOperation, ElementwiseOptions } from "./ops/elementwise.ts";
import type { EmbedOptions, StepRows } from "./ops/embed.ts";
import type { CombineOptions, ExpertPlan, Routing } from "./ops/experts.ts";
import type { AttentionState, LayerCache } from "./ops/kv_cache.ts";
import type { LinearOptions } from "./ops/linear.ts";
import type { Matrix } from "./ops/matrix.ts";
import type { NormOptions } from "./ops/norm.ts";
import type {
  ColumnRange,
  DeltaInputs,
  GatedNormOptions,
  ScanInputs,
  StepSegments,
} from "./ops/recurrent/mod.ts";
import type { RotateOptions } from "./ops/rotate.ts";
import type { Buffer, Operation } from "./operation.ts";

/** What is known of an operation before it is bound. */
export type Described = Omit<Operation, "encode">;

/** Whatever holds a value that an operation reads or writes. */
type Operand = Buffer | Activation | { readonly rows: FloatRows };

function described(
  name: string,
  reads: readonly Operand[],
  writes: readonly Operand[],
): Described {
  return { name, reads: reads.map(bufferBehind), writes: writes.map(bufferBehind) };
}

function bufferBehind(operand: Operand): Buffer {
  if ("rows" in operand) return operand.rows.floats;
  return "columns" in operand ? bufferOf(operand) : operand;
}

function cachesOf(cache: LayerCache | undefined): Buffer[] {
  return cache ? [cache.keys, ...cache.values ? [cache.values] : []] : [];
}

/** Each operation of the interface by its name there. */
export const operands = {
  embed(table: Matrix, step: StepRows, x: FloatRows, { by = "step" }: EmbedOptions = {}) {
    const { plan, slots, rows, history } = step;
    const name = `embed ${table.format.name}`;
    return by === "step"
      ? described(name, [plan, slots], [x, rows, history])
      : described(name, [rows], [x]);
  },
  norm(x: FloatRows, y: Activation, { accumulate }: NormOptions = {}) {
    return described("norm", accumulate ? [x, y] : [x], [y]);
  },
  quantize(x: FloatRows, y: QuantizedRows) {
    return described("quantize", [x], [y]);
  },
  linear(matrix: Matrix, x: Activation, y: Activation, { accumulate }: LinearOptions = {}) {
    return described(`linear ${matrix.format.name}`, accumulate ? [x, y] : [x], [y]);
  },
  activate(x: FloatRows, y: Activation, { activation }: ActivateOptions) {
    return described(`activate ${activation}`, [x], [y]);
  },
  elementwise(operation: ElementwiseOperation, y: Columns, { x }: ElementwiseOptions = {}) {
    const reads = x ? [x] : [];
    const name = operation.replaceAll("_", " ");
    return described(name, operation === "copy" ? reads : [...reads, y], [y]);
  },
  rotate(
    qkv: FloatRows,
    cache: LayerCache | undefined,
    state: AttentionState,
    { heads }: RotateOptions,
  ) {
    const writes = [...heads > 0 ? [qkv] : [], ...cachesOf(cache)];
    return described("rotate", [qkv, state.rows], writes);
  },
  rotateRows(x: FloatRows, turns: Buffer) {
    return described("rotate rows", [x, turns], [x]);
  },
  attention(
    qkv: FloatRows,
    cache: LayerCache,
    state: AttentionState,
    y: Activation,
    { tiles, partials }: AttentionTiling,
  ) {
    return described("attention", [qkv, state.rows, tiles, ...cachesOf(cache)], [partials, y]);
  },
  route(logits: FloatRows, { ids, weights, count }: Routing) {
    return described("route", [logits], [ids, weights, count]);
  },
  expertLinear(matrix: Matrix, plan: ExpertPlan, x: Activation, y: Activation) {
    const reads = [x, plan.routing.ids, ...plan.writes];
    return described(`experts ${matrix.format.name}`, reads, [y]);
  },
  combine(routing: Routing, x: FloatRows, y: FloatRows, { accumulate }: CombineOptions = {}) {
    return described("combine", [x, routing.weights, ...accumulate ? [y] : []], [y]);
  },
  mix(weights: FloatRows, x: Columns, y: Columns) {
    return described("mix", [weights, x, y], [y]);
  },
  matchMagnitude(y: Columns, reference: Columns) {
    return described("match magnitude", [y, reference], [y]);
  },
  sparsify(x: FloatRows) {
    return described("sparsify", [x], [x]);
  },
  convolution(x: ColumnRange, y: FloatRows, { rows, segments }: StepSegments, state: Buffer) {
    return described("convolution", [x, state, rows, segments], [y, state]);
  },
  scan(
    { x, dt, b, c, z }: ScanInputs,
    y: FloatRows,
    { rows, segments }: StepSegments,
    state: Buffer,
  ) {
    const reads = [x, dt, b, c, ...z ? [z] : [], state, rows, segments];
    return described("selective scan", reads, [y, state]);
  },
  deltaRule(
    { qkv, alpha, beta }: DeltaInputs,
    y: FloatRows,
    { rows, segments }: StepSegments,
    state: Buffer,
  ) {
    const reads = [qkv.rows, alpha, beta, state, rows, segments];
    return described("gated delta rule", reads, [y, state]);
  },
  gatedNorm(x: ColumnRange, y: FloatRows, { gate }: GatedNormOptions) {
    return described("gated norm", gate ? [x, gate.z] : [x], [y]);
  },
};
