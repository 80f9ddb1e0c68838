// The operations of the CPU device, each bound to its buffers. They run in WebAssembly on threads
// when they are submitted, one after the other.

import type { OperationMakers } from "../deferred.ts";
import { type Described, operands } from "../operands.ts";
import type { Activation, FloatRows, QuantizedRows } from "../ops/activation.ts";
import { GROUP } from "../ops/activation.ts";
import type { ActivateOptions } from "../ops/activation_function.ts";
import type { AttentionOptions, AttentionTiling } from "../ops/attention.ts";
import type { Columns, ElementwiseOperation, ElementwiseOptions } from "../ops/elementwise.ts";
import type { EmbedOptions, StepRows } from "../ops/embed.ts";
import type { CombineOptions, ExpertLinearOptions, RouteOptions, Routing } from "../ops/experts.ts";
import type { AttentionState, HeadShape, LayerCache } from "../ops/kv_cache.ts";
import type { LinearOptions, StackedMatrix } from "../ops/linear.ts";
import type { MixOptions } from "../ops/mix.ts";
import type { Norm, NormOptions } from "../ops/norm.ts";
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
} from "../ops/recurrent/mod.ts";
import type { RotateOptions, RotateRowsOptions } from "../ops/rotate.ts";
import type { Buffer, Operation } from "../operation.ts";
import { NO_WORK } from "../work.ts";
import { activate } from "./activate.ts";
import { attention, mostTileRows } from "./attention/attend.ts";
import * as columns from "./columns.ts";
import { combine } from "./combine.ts";
import type { CpuCore } from "./core.ts";
import type { CpuMatrix, WeightMatrix } from "./matrix.ts";
import { cpu } from "./memory.ts";
import { type CpuExpertPairs, expertPairs, pairsBytes } from "./expert_pairs.ts";
import { embed } from "./embed.ts";
import { expertLinear, linear } from "./products.ts";
import * as norms from "./norms.ts";
import { convolution } from "./recurrent/convolution.ts";
import { deltaRule } from "./recurrent/delta.ts";
import { scan } from "./recurrent/scan.ts";
import { rotate } from "./rotate.ts";
import { rotateRows } from "./rotate_rows.ts";
import { route } from "./route.ts";

/** A recorded pass: the calls to make when it is submitted. */
export type Call = () => void;

/** Makes the operations of a {@linkcode CpuDevice}. */
export abstract class CpuOperations implements OperationMakers {
  protected constructor(protected readonly core: CpuCore) {}

  /** Memory of the device; see `Device.buffer`. */
  abstract buffer(label: string, bytes: number, purpose: string): Buffer;

  mostTileRows(shape: HeadShape): number {
    return mostTileRows(shape);
  }

  embed(table: CpuMatrix, step: StepRows, x: FloatRows, options: EmbedOptions = {}): Operation {
    const run = embed(this.core, table, step, x, options);
    return this.#bound(operands.embed(table, step, x, options), run);
  }

  norm(x: FloatRows, y: Activation, norm: Norm, options: NormOptions = {}): Operation {
    const { next } = options;
    const run = norms.norm(this.core, x, y, norm, options);
    const runNext = next && norms.norm(this.core, y as FloatRows, next.y, next.norm, {});
    return this.#bound(operands.norm(x, y, norm, options), (rows) => {
      run(rows);
      runNext?.(rows);
    });
  }

  quantize(x: FloatRows, y: QuantizedRows): Operation {
    const [from, to] = [cpu(x.floats), cpu(y.groups)];
    return this.#bound(
      operands.quantize(x, y),
      (rows) => this.core.quantize(from, to, rows, x.stride / GROUP),
    );
  }

  linear(
    matrix: WeightMatrix,
    x: Activation,
    y: Activation,
    options: LinearOptions = {},
  ): Operation {
    const run = linear(this.core, matrix, x, y, options);
    return this.#bound(operands.linear(matrix, x, y, options), run);
  }

  stackedLinear(
    parts: readonly StackedMatrix<WeightMatrix>[],
    x: Activation,
    y: FloatRows,
    options: { accumulate?: boolean } = {},
  ): Operation {
    const runs = parts.map(({ matrix, first }) =>
      linear(this.core, matrix, x, y, { ...options, first })
    );
    return this.#bound(operands.stackedLinear(parts, x, y, options), (rows) => {
      for (const run of runs) run(rows);
    });
  }

  activate(x: FloatRows, y: Activation, options: ActivateOptions): Operation {
    return this.#bound(operands.activate(x, y, options), activate(this.core, x, y, options));
  }

  elementwise(
    operation: ElementwiseOperation,
    y: Columns,
    options: ElementwiseOptions = {},
  ): Operation {
    const run = columns.elementwise(this.core, operation, y, options);
    return this.#bound(operands.elementwise(operation, y, options), run);
  }

  rotate(
    qkv: FloatRows,
    cache: LayerCache | undefined,
    state: AttentionState,
    options: RotateOptions,
  ): Operation {
    const run = rotate(this.core, qkv, cache, state, options);
    return this.#bound(operands.rotate(qkv, cache, state, options), run);
  }

  rotateRows(x: FloatRows, angles: Buffer, options: RotateRowsOptions): Operation {
    const run = rotateRows(this.core, x, angles, options);
    return this.#bound(operands.rotateRows(x, angles, options), run);
  }

  attention(
    qkv: FloatRows,
    cache: LayerCache,
    state: AttentionState,
    y: Activation,
    options: AttentionOptions,
    tiling: AttentionTiling,
  ): Operation {
    const run = attention(this.core, qkv, cache, state, y, options, tiling);
    return this.#bound(operands.attention(qkv, cache, state, y, options, tiling), run);
  }

  route(logits: FloatRows, routing: Routing, options: RouteOptions): Operation {
    const run = route(this.core, logits, routing, options);
    return this.#bound(operands.route(logits, routing), run);
  }

  expertPairs(routing: Routing, rows: number): CpuExpertPairs {
    const bytes = pairsBytes(routing.experts, rows * routing.topK);
    const buffer = this.buffer("expert pairs", bytes, "scratch");
    const described = {
      ...{ name: "expert pairs", reads: [routing.ids], writes: [buffer] },
      work: () => NO_WORK,
    };
    return {
      ...this.#bound(described, expertPairs(this.core, routing, buffer)),
      routing,
      buffer,
    };
  }

  expertLinear(
    matrix: WeightMatrix,
    chosen: CpuExpertPairs,
    x: Activation,
    y: Activation,
    options: ExpertLinearOptions,
  ): Operation {
    const run = expertLinear(this.core, matrix, chosen, x, y, options);
    return this.#bound(operands.expertLinear(matrix, chosen, x, y, options), run);
  }

  combine(
    routing: Routing,
    x: FloatRows,
    y: FloatRows,
    options: CombineOptions = {},
  ): Operation {
    const run = combine(this.core, routing, x, y, options);
    return this.#bound(operands.combine(routing, x, y, options), run);
  }

  mix(weights: FloatRows, x: Columns, y: Columns, options: MixOptions): Operation {
    const run = columns.mix(this.core, weights, x, y, options);
    return this.#bound(operands.mix(weights, x, y, options), run);
  }

  matchMagnitude(y: Columns, reference: Columns, options: { count?: number } = {}): Operation {
    const run = columns.matchMagnitude(this.core, y, reference, options);
    return this.#bound(operands.matchMagnitude(y, reference, options), run);
  }

  sparsify(x: FloatRows, factor: number): Operation {
    return this.#bound(operands.sparsify(x), columns.sparsify(this.core, x, factor));
  }

  convolution(
    x: ColumnRange,
    y: FloatRows,
    step: StepSegments,
    state: Buffer,
    options: ConvolutionOptions,
  ): Operation {
    const run = convolution(this.core, x, y, step, state, options);
    return this.#bound(operands.convolution(x, y, step, state, options), run);
  }

  scan(
    inputs: ScanInputs,
    y: FloatRows,
    step: StepSegments,
    state: Buffer,
    weights: ScanWeights,
    shape: ScanShape,
  ): Operation {
    const run = scan(this.core, inputs, y, step, state, weights, shape);
    return this.#bound(operands.scan(inputs, y, step, state, weights, shape), run);
  }

  deltaRule(
    inputs: DeltaInputs,
    y: FloatRows,
    step: StepSegments,
    state: Buffer,
    weights: DeltaWeights,
    shape: DeltaShape,
  ): Operation {
    const run = deltaRule(this.core, inputs, y, step, state, weights, shape);
    return this.#bound(operands.deltaRule(inputs, y, step, state, weights, shape), run);
  }

  gatedNorm(x: ColumnRange, y: FloatRows, options: GatedNormOptions): Operation {
    const run = norms.gatedNorm(this.core, x, y, options);
    return this.#bound(operands.gatedNorm(x, y, options), run);
  }

  #bound(described: Described, run: (...counts: number[]) => void): Operation {
    return {
      ...described,
      encode: (pass, ...counts) => (pass as Call[]).push(() => run(...counts)),
    };
  }
}
