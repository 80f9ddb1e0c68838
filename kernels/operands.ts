// The operations of devices: the operands of each, the activations, caches and states among them that
// it reads and writes, and how much work it is. Weights and other constants are not listed. From this
// one declaration follow a device's methods and what it binds (makers.ts). ops/ defines what operands
// mean, and has the plain references; the operations of few architectures are declared there too.

import { type Described, described, FUNCTION_FLOPS, NORM_FLOPS } from "./ops/described.ts";
import type { ActivateOptions, Activation, FloatRows, QuantizedRows } from "./ops/activation.ts";
import type { AttentionOptions, AttentionTiling } from "./ops/attention.ts";
import { columnOperands } from "./ops/elementwise.ts";
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
import { recurrentOperands } from "./ops/recurrent.ts";
import { spanOperands } from "./ops/spans.ts";
import { headNorms, type RotateOptions, type RotateRowsOptions } from "./ops/rotate.ts";
import type { Buffer, Operation } from "./operation.ts";
import { attentionWork, expertsMet, FLOAT, valueBytes, weightBytes } from "./ops/work.ts";

function cachesOf(cache: LayerCache | undefined): Buffer[] {
  return cache ? [cache.keys, ...cache.values ? [cache.values] : []] : [];
}

/** Bytes of the keys and values of one position. */
function cachedBytes(shape: HeadShape, { types }: LayerCache): number {
  return (layerCacheBytes(shape, 1, types) + layerCacheBytes(shape, 1, types, "values")) / BLOCK;
}

/** For each operation, a function from its operands to its facts. */
export const operands = {
  ...columnOperands,
  ...recurrentOperands,
  ...spanOperands,
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
} satisfies Readonly<Record<string, (...operands: never[]) => Described>>;
