// The operations of devices: the operands of each, the activations, caches and states among them that
// it reads and writes, and how much work it is. Weights and other constants are not listed. From this
// one declaration follow a device's methods and what it binds (makers.ts). ops/ defines what operands
// mean, and has the plain references.

import {
  type ActivateOptions,
  type Activation,
  bufferOf,
  type FloatRows,
  type QuantizedRows,
} from "./ops/activation.ts";
import type { AttentionOptions, AttentionTiling } from "./ops/attention.ts";
import type {
  Columns,
  ElementwiseOperation,
  ElementwiseOptions,
  MixOptions,
} from "./ops/elementwise.ts";
import type { EmbedOptions, StepRows } from "./ops/embed.ts";
import type {
  CombineOptions,
  ExpertLinearOptions,
  ExpertPairs,
  RouteOptions,
  Routing,
} from "./ops/experts.ts";
import {
  type AttentionState,
  BLOCK,
  type HeadShape,
  type LayerCache,
  layerCacheBytes,
} from "./ops/kv_cache.ts";
import type { LinearOptions, Matrix, StackedMatrix } from "./ops/matrix.ts";
import type { Norm, NormOptions } from "./ops/norm.ts";
import type {
  ColumnRange,
  ConvolutionOptions,
  DeltaInputs,
  DeltaShape,
  DeltaWeights,
  GatedNormOptions,
  ScanInputs,
  ScanShape,
  ScanWeights,
  StepSegments,
} from "./ops/recurrent.ts";
import { headNorms, type RotateOptions, type RotateRowsOptions } from "./ops/rotate.ts";
import type { Buffer, Operation, Work } from "./operation.ts";
import { attentionWork, expertsMet, FLOAT, valueBytes, weightBytes } from "./work.ts";

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

function described(
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

function cachesOf(cache: LayerCache | undefined): Buffer[] {
  return cache ? [cache.keys, ...cache.values ? [cache.values] : []] : [];
}

/** Bytes of the keys and values of one position. */
function cachedBytes(shape: HeadShape, { types }: LayerCache): number {
  return (layerCacheBytes(shape, 1, types) + layerCacheBytes(shape, 1, types, "values")) / BLOCK;
}

/** Columns of a vector. */
function widthOf({ rows, first = 0, columns = rows.columns - first }: Columns): number {
  return columns;
}

/** Floating-point operations per value of a norm: square, sum, scale, weight. */
const NORM_FLOPS = 4;

/** Floating-point operations of an activation function or a rotated pair, roughly. */
const FUNCTION_FLOPS = 8;

/** For each operation, a function from its operands to its facts. */
export const operands = {
  /**
   * x[row] = scale * table[token or position of row], for `rows` rows. By default it also resolves
   * the rows of the step.
   */
  embed(
    table: Matrix,
    step: StepRows,
    x: FloatRows,
    { by = "step", accumulate }: EmbedOptions = {},
  ) {
    const { plan, slots, rows, history } = step;
    const name = `embed ${table.format.name}`;
    const work = { reads: weightBytes(table, 1), writes: valueBytes(x), flops: x.columns };
    const sum = accumulate ? [x] : [];
    return by === "step"
      ? described(name, [plan, slots, ...sum], [x, rows, history], work)
      : described(name, [rows, ...sum], [x], work);
  },
  /** y = norm(x), or y += norm(x) and then a norm of y, for `rows` rows of y; x may be y. */
  norm(
    x: FloatRows,
    y: Activation,
    _norm: Norm,
    { accumulate, source, vectors, next }: NormOptions = {},
  ) {
    const values = vectors ? vectors.count * vectors.columns : x.columns;
    const reads = [x, ...source ? [source] : [], ...accumulate ? [y] : []];
    return described("norm", reads, next ? [y, next.y] : [y], {
      reads: values * FLOAT + (accumulate ? valueBytes(y, values) : 0),
      writes: valueBytes(y, values) + (next ? valueBytes(next.y) : 0),
      flops: (next ? 2 : 1) * NORM_FLOPS * values,
    });
  },
  /** y = x as int8 groups, for `rows` rows; both may lack the same division, see `FloatRows`. */
  quantize(x: FloatRows, y: QuantizedRows) {
    const work = { reads: valueBytes(x), writes: valueBytes(y), flops: 2 * x.columns };
    return described("quantize", [x], [y], work);
  },
  /** y = x W^T, or y += x W^T, or f(gate) * up for a pair, for `rows` rows: y [rows, columns]. */
  linear(
    matrix: Matrix,
    x: Activation,
    y: Activation,
    { accumulate, norm }: LinearOptions = {},
  ) {
    const { format, rows, columns, sides } = matrix;
    const written = valueBytes(y, rows);
    const writes = norm ? [y, norm.y] : [y];
    return described(`linear ${format.name}`, accumulate ? [x, y] : [x], writes, {
      weights: weightBytes(matrix, rows),
      reads: valueBytes(x, columns) + (accumulate ? written : 0),
      writes: written,
      flops: 2 * sides * rows * columns,
    });
  },
  /**
   * y = x W^T, or y += x W^T, by several matrices, for `rows` rows: the results of each are columns of
   * y from its `first` on.
   */
  stackedLinear(
    parts: readonly StackedMatrix[],
    x: Activation,
    y: FloatRows,
    { accumulate }: { accumulate?: boolean } = {},
  ) {
    const matrices = parts.map(({ matrix }) => matrix);
    const sum = (of: (matrix: Matrix) => number) =>
      matrices.reduce((total, matrix) => total + of(matrix), 0);
    const written = sum(({ rows }) => valueBytes(y, rows));
    const name = `linear ${matrices.map(({ format }) => format.name).join(", ")}`;
    return described(name, accumulate ? [x, y] : [x], [y], {
      weights: sum((matrix) => weightBytes(matrix, matrix.rows)),
      reads: valueBytes(x) + (accumulate ? written : 0),
      writes: written,
      flops: 2 * sum(({ rows, columns }) => rows * columns),
    });
  },
  /** y = f(x), or f(gate) * up of the halves of each row of x, for `rows` rows. */
  activate(x: FloatRows, y: Activation, { activation }: ActivateOptions) {
    return described(`activate ${activation}`, [x], [y], {
      reads: valueBytes(x),
      writes: valueBytes(y),
      flops: FUNCTION_FLOPS * y.columns,
    });
  },
  /** A small operation on columns of y in place, for `rows` rows. */
  elementwise(
    operation: ElementwiseOperation,
    y: Columns,
    { x, count = 1, repeat = 1, broadcast, gate }: ElementwiseOptions = {},
  ) {
    const reads = [x, gate].filter((operand) => operand !== undefined);
    const name = operation.replaceAll("_", " ");
    const values = count * widthOf(y);
    const others = x && !broadcast ? values / repeat : 0;
    return described(name, operation === "copy" ? reads : [...reads, y], [y], {
      reads: FLOAT * (others + (operation === "copy" ? 0 : values)),
      writes: FLOAT * values,
      flops: gate || /gate|cap/.test(operation) ? FUNCTION_FLOPS * values : 2 * values,
    });
  },
  /**
   * RoPE on the queries of qkv, in place, and on its keys, for `rows` rows; a norm of each head may come
   * before. Keys and values go to the cache; without one, keys are rotated in place.
   */
  rotate(
    qkv: FloatRows,
    cache: LayerCache | undefined,
    state: AttentionState,
    options: RotateOptions,
  ) {
    const { heads, kvHeads, headDim, valueDim = headDim, first = 0 } = options;
    const { sharedValues, rotary } = options;
    const tables = cache ? [state.table] : [];
    const normed = headNorms(options);
    const changes = rotary > 0 && heads > 0 || normed.length > 0;
    const writes = [...changes ? [qkv] : [], ...cachesOf(cache)];
    const queries = rotary > 0 || normed.length > 0 ? heads * headDim * FLOAT : 0;
    const values = normed.reduce((sum, { vectors }) => sum + vectors.count * headDim, 0);
    const cached = cache ? kvHeads * (headDim + (sharedValues ? 0 : valueDim)) : 0;
    const facts = described("rotate", [qkv, state.rows, ...tables], writes, {
      reads: queries + cached * FLOAT,
      writes: queries + (cache && kvHeads > 0 ? cachedBytes(options, cache) : 0),
      flops: FUNCTION_FLOPS / 2 * rotary * (heads + (cache ? kvHeads : 0)) + NORM_FLOPS * values,
    });
    // Keys are in the cache then; what the rows still have of them depends on the device.
    const { output } = facts;
    return output && cache
      ? { ...facts, output: { ...output, columns: first + heads * headDim } }
      : facts;
  },
  /** Rotates the heads of each row, in place, by angles of that row, for `rows` rows. */
  rotateRows(x: FloatRows, angles: Buffer, { heads, headDim }: RotateRowsOptions) {
    const values = heads * headDim;
    return described("rotate rows", [x, angles], [x], {
      reads: FLOAT * (values + headDim),
      writes: FLOAT * values,
      flops: FUNCTION_FLOPS / 2 * values,
    });
  },
  /**
   * y = softmax(q k^T * scale) v over the cache, for `tiles` tiles whose sequences have at most
   * `positions` positions. qkv is rotated, with queries from column `first` on: y [rows, heads *
   * valueDim].
   */
  attention(
    qkv: FloatRows,
    cache: LayerCache,
    state: AttentionState,
    y: Activation,
    options: AttentionOptions,
    { tiles, partials }: AttentionTiling,
  ) {
    const reads = [qkv, state.rows, tiles, state.table, ...cachesOf(cache)];
    const work: Operation["work"] = (counts) => attentionWork(options, cache.types, counts);
    return described("attention", reads, [partials, y], work);
  },
  /**
   * Chooses experts by logits [rows, experts], for `rows` rows. Of equal logits the lower id is
   * first.
   */
  route(logits: FloatRows, { ids, weights, count, topK }: Routing, _options: RouteOptions) {
    return described("route", [logits], [ids, weights, count], {
      reads: valueBytes(logits),
      writes: 2 * FLOAT * topK,
      flops: FUNCTION_FLOPS * logits.columns,
    });
  },
  /** y[pair] = x[pair / share] W^T of the pair's expert, for the pairs of `rows` rows. */
  expertLinear(
    matrix: Matrix,
    chosen: ExpertPairs,
    x: Activation,
    y: Activation,
    { share }: ExpertLinearOptions,
  ) {
    const { experts, topK, ids } = chosen.routing;
    const { format, columns, sides } = matrix;
    const unit = matrix.rows / experts; // rows per expert
    const work: Operation["work"] = ({ rows }) => {
      const pairs = rows * topK;
      const met = expertsMet(experts, topK, rows);
      return {
        bytesRead: weightBytes(matrix, met * unit) + pairs / share * valueBytes(x, columns),
        bytesWritten: pairs * valueBytes(y, unit),
        flops: 2 * sides * pairs * unit * columns,
      };
    };
    const all = described(`experts ${format.name}`, [x, ids, ...chosen.writes], [y], work);
    return { ...all, output: undefined }; // no output: its rows are pairs, not rows of the step
  },
  /** y = the sum over a row's pairs of weight times x, for `rows` rows of y. */
  combine(
    { weights, topK }: Routing,
    x: FloatRows,
    y: FloatRows,
    { accumulate, weighted = true }: CombineOptions = {},
  ) {
    const values = topK * y.columns;
    const others = [...weighted ? [weights] : [], ...accumulate ? [y] : []];
    return described("combine", [x, ...others], [y], {
      reads: FLOAT * (values + (accumulate ? y.columns : 0)),
      writes: valueBytes(y),
      flops: 2 * values,
    });
  },
  /** Each vector of y is the sum of the vectors of x, with the row's weights, for `rows` rows. */
  mix(weights: FloatRows, x: Columns, y: Columns, { inputs, outputs }: MixOptions) {
    const width = widthOf(y);
    return described("mix", [weights, x, y], [y], {
      reads: FLOAT * (inputs * outputs + (inputs + outputs) * width),
      writes: FLOAT * outputs * width,
      flops: 2 * inputs * outputs * width,
    });
  },
  /** Scales each vector of y to the L2 norm of the row's reference, in place, for `rows` rows. */
  matchMagnitude(y: Columns, reference: Columns, { count = 1 }: { count?: number } = {}) {
    const values = count * widthOf(y);
    return described("match magnitude", [y, reference], [y], {
      reads: FLOAT * (values + widthOf(reference)),
      writes: FLOAT * values,
      flops: NORM_FLOPS * values,
    });
  },
  /**
   * x = max(0, x - mean - factor * deviation), with mean and deviation of the row, in place, for
   * `rows` rows.
   */
  sparsify(x: FloatRows, _factor: number) {
    const bytes = valueBytes(x);
    return described("sparsify", [x], [x], {
      reads: bytes,
      writes: bytes,
      flops: NORM_FLOPS * x.columns,
    });
  },
  /** The causal convolution of columns of x, for `segments` segments of at most `longest` rows. */
  convolution(
    x: ColumnRange,
    y: FloatRows,
    { rows, segments }: StepSegments,
    state: Buffer,
    { width, gates }: ConvolutionOptions,
  ) {
    return described("convolution", [x, state, rows, segments], [y, state], {
      reads: valueBytes(y) * (gates ? 3 : 1),
      writes: valueBytes(y),
      flops: 2 * width * y.columns,
      weights: FLOAT * width * y.columns,
      state: FLOAT * (width - 1) * y.columns,
    });
  },
  /** The selective scan of Mamba, for `segments` segments. */
  scan(
    { x, dt, b, c, z }: ScanInputs,
    y: FloatRows,
    { rows, segments }: StepSegments,
    state: Buffer,
    _weights: ScanWeights,
    { channels, heads, groups, states }: ScanShape,
  ) {
    const reads = [x, dt, b, c, ...z ? [z] : [], state, rows, segments];
    return described("selective scan", reads, [y, state], {
      reads: FLOAT * (channels * (z ? 2 : 1) + heads + 2 * groups * states),
      writes: FLOAT * channels,
      flops: 6 * channels * states,
      state: FLOAT * channels * states,
    });
  },
  /** The gated delta rule, for `segments` segments. */
  deltaRule(
    { qkv, alpha, beta }: DeltaInputs,
    y: FloatRows,
    { rows, segments }: StepSegments,
    state: Buffer,
    _weights: DeltaWeights,
    { heads, keyHeads, dim }: DeltaShape,
  ) {
    const reads = [qkv.rows, alpha, beta, state, rows, segments];
    return described("gated delta rule", reads, [y, state], {
      reads: FLOAT * ((2 * keyHeads + heads) * dim + 2 * heads),
      writes: FLOAT * heads * dim,
      flops: 7 * heads * dim ** 2,
      state: FLOAT * heads * dim ** 2,
    });
  },
  /** The norm of each group of x, times the activation of its gate, for `rows` rows. */
  gatedNorm(x: ColumnRange, y: FloatRows, { gate }: GatedNormOptions) {
    return described("gated norm", gate ? [x, gate.z] : [x], [y], {
      reads: valueBytes(y) * (gate ? 2 : 1),
      writes: valueBytes(y),
      flops: (NORM_FLOPS + (gate ? FUNCTION_FLOPS : 0)) * y.columns,
    });
  },
} satisfies Readonly<Record<string, (...operands: never[]) => Described>>;
