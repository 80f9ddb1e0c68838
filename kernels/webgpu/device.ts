// The device interface on WebGPU: Deno's own, a browser's, or any other implementation. For each
// operation it binds one class of this folder.

import type { Commands, Device, PassTimes, Readback, Recorder, Sampler } from "../device.ts";
import type { Buffer, Operation, Pass } from "../operation.ts";
import type { Activation, FloatRows, QuantizedRows } from "../ops/activation.ts";
import type { ActivateOptions } from "../ops/activation_function.ts";
import type { AttentionOptions, AttentionTiling } from "../ops/attention.ts";
import type { Columns, ElementwiseOperation, ElementwiseOptions } from "../ops/elementwise.ts";
import type { EmbedOptions, StepRows } from "../ops/embed.ts";
import type {
  CombineOptions,
  ExpertLinearOptions,
  ExpertPairsOptions,
  RouteOptions,
  Routing,
} from "../ops/experts.ts";
import type { AttentionState, HeadShape, LayerCache } from "../ops/kv_cache.ts";
import type { LinearOptions, StackedMatrix } from "../ops/linear.ts";
import type { Affine, MatrixShape, MatrixWriter } from "../ops/matrix.ts";
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
import type { SamplerOptions } from "../ops/sampling/mod.ts";
import { type QuantFormat, quantFormat } from "../quants/mod.ts";
import type { Tuner } from "../tuning.ts";
import { type Described, operands } from "../operands.ts";
import { Activate } from "./activate.ts";
import { Attention } from "./attention.ts";
import { mostTileRows } from "./attention_shares.ts";
import { captureDispatches } from "./capture.ts";
import { Combine } from "./combine.ts";
import { Elementwise } from "./elementwise.ts";
import { Embed } from "./embed.ts";
import { GpuExpertPairs } from "./expert_pairs.ts";
import { ExpertLinear } from "./experts.ts";
import { Gpu } from "./gpu.ts";
import { Linear, mostFusedNormRows } from "./linear.ts";
import { MatchMagnitude } from "./match_magnitude.ts";
import { allocateMatrix, canPair, type GpuMatrix, GpuMatrixWriter, setAffine } from "./matrix.ts";
import { Mix } from "./mix.ts";
import { Normalize } from "./norm.ts";
import { Quantize } from "./quantize.ts";
import { readBandwidth } from "./read_bandwidth.ts";
import { GpuReadback } from "./readback.ts";
import { CausalConvolution } from "./recurrent/convolution.ts";
import { GatedDeltaRule } from "./recurrent/delta.ts";
import { GatedNorm } from "./recurrent/gated_norm.ts";
import { SelectiveScan } from "./recurrent/scan.ts";
import { Rotate } from "./rotate.ts";
import { RotateRows } from "./rotate_rows.ts";
import { Route } from "./route.ts";
import { GpuSampler } from "./sampling/sampler.ts";
import { Sparsify } from "./sparsify.ts";
import { StackedLinear } from "./stacked_linear.ts";
import { timePasses } from "./time_passes.ts";
import { usualSplit } from "./candidates.ts";
import { GpuTuner } from "./tuning/tuner.ts";

/** ggml_type of f32. */
const F32 = 0;

/**
 * Dispatches of the first part of a captured step: the fewer, the sooner they are submitted, but while
 * the device runs them, the rest has to be submitted too.
 */
const FIRST_DISPATCHES = 24;

/** An open device on WebGPU. */
export class WebGpuDevice extends Gpu implements Device {
  /** Buffers are memories of their own. */
  readonly workingMemory = undefined;
  #tuner: GpuTuner | undefined;

  override share(): WebGpuDevice {
    return new WebGpuDevice(this.gpu, this.profile, this.owner ?? this);
  }

  /** WebGPU's operations take whole buffers and ignore their sizes. */
  part(buffer: Buffer): Buffer {
    return buffer;
  }

  canPair(format: QuantFormat, rows: number, columns: number): boolean {
    return canPair(format, rows, columns);
  }

  mostFusedNormRows(matrix: GpuMatrix): number {
    // A driver on the CPU pays more for the barrier before the groups than for a dispatch.
    return this.capabilities.software ? 0 : mostFusedNormRows(matrix);
  }

  matrix(label: string, format: QuantFormat, shape: MatrixShape): GpuMatrix {
    return allocateMatrix(this, label, format, shape);
  }

  matrixWriter(matrix: GpuMatrix, side: 0 | 1 = 0): MatrixWriter {
    return new GpuMatrixWriter(this, matrix, side);
  }

  setAffine(matrix: GpuMatrix, affine: Affine): void {
    setAffine(this, matrix, affine);
  }

  tableOf({ floats, columns }: FloatRows, rows: number, first: number): GpuMatrix {
    const buffer = floats as GPUBuffer;
    const part = { first, rows, buffer, offsets: [0], sizes: [buffer.size] };
    return {
      label: floats.label,
      format: quantFormat(F32)!,
      rows,
      columns,
      sides: 1,
      parts: [part],
    };
  }

  record(): Recorder {
    const encoder = this.gpu.createCommandEncoder();
    return {
      pass(encode) {
        const pass = encoder.beginComputePass();
        encode(pass as Pass);
        pass.end();
      },
      copy(source, from, target, to, bytes) {
        encoder.copyBufferToBuffer(source as GPUBuffer, from, target as GPUBuffer, to, bytes);
      },
      finish: () => encoder.finish() as Commands,
    };
  }

  /** The dispatches are kept, until the tuner chooses other kernels for them. */
  capture(encode: (pass: Pass) => void): ((pass: Pass) => void)[] {
    const { choices } = this;
    let version = choices.version;
    const capture = () => captureDispatches(encode, FIRST_DISPATCHES);
    let replays = capture();
    return replays.map((_, part, { length }) => (pass) => {
      if (version !== choices.version) {
        version = choices.version;
        replays = capture();
      }
      // Other kernels may take more dispatches or fewer, and so other parts.
      const end = part === length - 1 ? undefined : part + 1;
      for (const replay of replays.slice(part, end)) replay(pass as GPUComputePassEncoder);
    });
  }

  /** With a GPU, the host's thread does not wait during a submit. */
  unless(_isUnwanted: () => boolean, submit: () => void): void {
    submit();
  }

  time(passes: readonly ((pass: Pass) => void)[]): Promise<PassTimes> {
    return timePasses(this, passes);
  }

  idle(): Promise<void> {
    this.release();
    return this.gpu.queue.onSubmittedWorkDone() as Promise<void>;
  }

  readback(label: string, bytes: number): Readback {
    return new GpuReadback(this, label, bytes);
  }

  mostTileRows(shape: HeadShape): number {
    return mostTileRows(this, shape);
  }

  get decodeSplit(): number {
    return usualSplit(this.profile);
  }

  embed(table: GpuMatrix, step: StepRows, x: FloatRows, options: EmbedOptions = {}): Operation {
    return bound(operands.embed(table, step, x, options), new Embed(this, table, step, x, options));
  }

  norm(x: FloatRows, y: Activation, norm: Norm, options: NormOptions = {}): Operation {
    return bound(operands.norm(x, y, norm, options), new Normalize(this, x, y, norm, options));
  }

  quantize(x: FloatRows, y: QuantizedRows): Operation {
    return bound(operands.quantize(x, y), new Quantize(this, x, y));
  }

  linear(
    matrix: GpuMatrix,
    x: Activation,
    y: Activation,
    options: LinearOptions = {},
  ): Operation {
    return bound(operands.linear(matrix, x, y, options), new Linear(this, matrix, x, y, options));
  }

  stackedLinear(
    parts: readonly StackedMatrix<GpuMatrix>[],
    x: Activation,
    y: FloatRows,
    options: { accumulate?: boolean } = {},
  ): Operation {
    const linear = new StackedLinear(this, parts, x, y, options);
    return bound(operands.stackedLinear(parts, x, y, options), linear);
  }

  activate(x: FloatRows, y: Activation, options: ActivateOptions): Operation {
    return bound(operands.activate(x, y, options), new Activate(this, x, y, options));
  }

  elementwise(
    operation: ElementwiseOperation,
    y: Columns,
    options: ElementwiseOptions = {},
  ): Operation {
    const elementwise = new Elementwise(this, operation, y, options);
    return bound(operands.elementwise(operation, y, options), elementwise);
  }

  rotate(
    qkv: FloatRows,
    cache: LayerCache | undefined,
    state: AttentionState,
    options: RotateOptions,
  ): Operation {
    const rotate = new Rotate(this, qkv, cache, state, options);
    return bound(operands.rotate(qkv, cache, state, options), rotate);
  }

  rotateRows(x: FloatRows, angles: Buffer, options: RotateRowsOptions): Operation {
    return bound(operands.rotateRows(x, angles, options), new RotateRows(this, x, angles, options));
  }

  attention(
    qkv: FloatRows,
    cache: LayerCache,
    state: AttentionState,
    y: Activation,
    options: AttentionOptions,
    tiling: AttentionTiling,
  ): Operation {
    const attention = new Attention(this, qkv, cache, state, y, options, tiling);
    return bound(operands.attention(qkv, cache, state, y, options, tiling), attention);
  }

  route(logits: FloatRows, routing: Routing, options: RouteOptions): Operation {
    return bound(operands.route(logits, routing), new Route(this, logits, routing, options));
  }

  expertPairs(routing: Routing, rows: number, options: ExpertPairsOptions = {}): GpuExpertPairs {
    return new GpuExpertPairs(this, routing, rows, options);
  }

  expertLinear(
    matrix: GpuMatrix,
    chosen: GpuExpertPairs,
    x: Activation,
    y: Activation,
    options: ExpertLinearOptions,
  ): Operation {
    const linear = new ExpertLinear(this, matrix, chosen, x, y, options);
    return bound(operands.expertLinear(matrix, chosen, x, y, options), linear);
  }

  combine(
    routing: Routing,
    x: FloatRows,
    y: FloatRows,
    options: CombineOptions = {},
  ): Operation {
    const combine = new Combine(this, routing, x, y, options);
    return bound(operands.combine(routing, x, y, options), combine);
  }

  mix(weights: FloatRows, x: Columns, y: Columns, options: MixOptions): Operation {
    return bound(operands.mix(weights, x, y, options), new Mix(this, weights, x, y, options));
  }

  matchMagnitude(y: Columns, reference: Columns, options: { count?: number } = {}): Operation {
    const match = new MatchMagnitude(this, y, reference, options);
    return bound(operands.matchMagnitude(y, reference, options), match);
  }

  sparsify(x: FloatRows, factor: number): Operation {
    return bound(operands.sparsify(x), new Sparsify(this, x, factor));
  }

  convolution(
    x: ColumnRange,
    y: FloatRows,
    step: StepSegments,
    state: Buffer,
    options: ConvolutionOptions,
  ): Operation {
    const convolution = new CausalConvolution(this, x, y, step, state, options);
    return bound(operands.convolution(x, y, step, state, options), convolution);
  }

  scan(
    inputs: ScanInputs,
    y: FloatRows,
    step: StepSegments,
    state: Buffer,
    weights: ScanWeights,
    shape: ScanShape,
  ): Operation {
    const scan = new SelectiveScan(this, inputs, y, step, state, weights, shape);
    return bound(operands.scan(inputs, y, step, state, weights, shape), scan);
  }

  deltaRule(
    inputs: DeltaInputs,
    y: FloatRows,
    step: StepSegments,
    state: Buffer,
    weights: DeltaWeights,
    shape: DeltaShape,
  ): Operation {
    const rule = new GatedDeltaRule(this, inputs, y, step, state, weights, shape);
    return bound(operands.deltaRule(inputs, y, step, state, weights, shape), rule);
  }

  gatedNorm(x: ColumnRange, y: FloatRows, options: GatedNormOptions): Operation {
    return bound(operands.gatedNorm(x, y, options), new GatedNorm(this, x, y, options));
  }

  sampler(options: SamplerOptions): Sampler {
    return new GpuSampler(this, options);
  }

  get tuner(): Tuner {
    return this.#tuner ??= new GpuTuner(this);
  }

  get identity(): string {
    return this.tuner.identity;
  }

  readBandwidth(): Promise<number> {
    return readBandwidth(this);
  }
}

/** A bound operation of this folder. */
interface Encodable {
  prepare?(...most: number[]): void;
  encode(pass: GPUComputePassEncoder, ...counts: number[]): void;
}

function bound(described: Described, operation: Encodable): Operation {
  return {
    ...described,
    prepare: (...most) => operation.prepare?.(...most),
    encode: (pass, ...counts) => operation.encode(pass as GPUComputePassEncoder, ...counts),
  };
}
