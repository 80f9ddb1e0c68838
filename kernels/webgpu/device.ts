// The device interface on WebGPU: Deno's own, a browser's, or any other implementation of it. Binds
// one class of this folder per operation, and gives each its name and what it reads and writes.

import type { Commands, Device, Readback, Recorder, Sampler } from "../device.ts";
import type { Buffer, Operation, Pass } from "../operation.ts";
import type { Activation, FloatRows, QuantizedRows } from "../ops/activation.ts";
import { bufferOf } from "../ops/activation.ts";
import type { ActivateOptions } from "../ops/activation_function.ts";
import type { AttentionOptions, AttentionTiling } from "../ops/attention.ts";
import type { Columns, ElementwiseOperation, ElementwiseOptions } from "../ops/elementwise.ts";
import type { EmbedOptions, StepRows } from "../ops/embed.ts";
import type {
  CombineOptions,
  ExpertLinearOptions,
  ExpertPlanOptions,
  RouteOptions,
  Routing,
} from "../ops/experts.ts";
import type { AttentionState, HeadShape, LayerCache } from "../ops/kv_cache.ts";
import type { LinearOptions } from "../ops/linear.ts";
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
import { Activate } from "./activate.ts";
import { Attention, mostTileRows } from "./attention.ts";
import { Combine } from "./combine.ts";
import { Elementwise } from "./elementwise.ts";
import { Embed } from "./embed.ts";
import { GpuExpertPlan } from "./expert_plan.ts";
import { ExpertLinear } from "./experts.ts";
import { Gpu } from "./gpu.ts";
import { Linear } from "./linear.ts";
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

/** Positions of a split of attention in decode: more of them where workgroups are dear. */
const DECODE_SPLIT = 256;
const DECODE_SPLIT_SOFTWARE = 1024;

/** ggml_type of f32. */
const F32 = 0;

/** An open device on WebGPU. */
export class WebGpuDevice extends Gpu implements Device {
  override share(): WebGpuDevice {
    return new WebGpuDevice(this.gpu, this.profile, this.owner ?? this);
  }

  canPair(format: QuantFormat, rows: number, columns: number): boolean {
    return canPair(format, rows, columns);
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

  submit(...commands: Commands[]): void {
    this.gpu.queue.submit(commands as GPUCommandBuffer[]);
  }

  idle(): Promise<void> {
    return this.gpu.queue.onSubmittedWorkDone() as Promise<void>;
  }

  readback(label: string, bytes: number): Readback {
    return new GpuReadback(this, label, bytes);
  }

  mostTileRows(shape: HeadShape): number {
    return mostTileRows(this, shape);
  }

  get decodeSplit(): number {
    return this.capabilities.software ? DECODE_SPLIT_SOFTWARE : DECODE_SPLIT;
  }

  embed(table: GpuMatrix, step: StepRows, x: FloatRows, options: EmbedOptions = {}): Operation {
    const { plan, slots, rows, history } = step;
    const resolves = (options.by ?? "step") === "step";
    return operation(`embed ${table.format.name}`, {
      reads: resolves ? [plan, slots] : [rows],
      writes: resolves ? [x, rows, history] : [x],
    }, new Embed(this, table, step, x, options));
  }

  norm(x: FloatRows, y: Activation, norm: Norm, options: NormOptions = {}): Operation {
    const reads = options.accumulate ? [x, y] : [x];
    return operation("norm", { reads, writes: [y] }, new Normalize(this, x, y, norm, options));
  }

  quantize(x: FloatRows, y: QuantizedRows): Operation {
    return operation("quantize", { reads: [x], writes: [y] }, new Quantize(this, x, y));
  }

  linear(
    matrix: GpuMatrix,
    x: Activation,
    y: Activation,
    options: LinearOptions = {},
  ): Operation {
    return operation(`linear ${matrix.format.name}`, {
      reads: options.accumulate ? [x, y] : [x],
      writes: [y],
    }, new Linear(this, matrix, x, y, options));
  }

  activate(x: FloatRows, y: Activation, options: ActivateOptions): Operation {
    return operation(
      `activate ${options.activation}`,
      { reads: [x], writes: [y] },
      new Activate(this, x, y, options),
    );
  }

  elementwise(
    name: ElementwiseOperation,
    y: Columns,
    options: ElementwiseOptions = {},
  ): Operation {
    const x = options.x ? [options.x] : [];
    return operation(name.replaceAll("_", " "), {
      reads: name === "copy" ? x : [...x, y],
      writes: [y],
    }, new Elementwise(this, name, y, options));
  }

  rotate(
    qkv: FloatRows,
    cache: LayerCache | undefined,
    state: AttentionState,
    options: RotateOptions,
  ): Operation {
    return operation("rotate", {
      reads: [qkv, state.rows],
      writes: [...options.heads > 0 ? [qkv] : [], ...cachesOf(cache)],
    }, new Rotate(this, qkv, cache, state, options));
  }

  rotateRows(x: FloatRows, turns: Buffer, options: RotateRowsOptions): Operation {
    return operation("rotate rows", {
      reads: [x, turns],
      writes: [x],
    }, new RotateRows(this, x, turns, options));
  }

  attention(
    qkv: FloatRows,
    cache: LayerCache,
    state: AttentionState,
    y: Activation,
    options: AttentionOptions,
    tiling: AttentionTiling,
  ): Operation {
    return operation("attention", {
      reads: [qkv, state.rows, tiling.tiles, ...cachesOf(cache)],
      writes: [tiling.partials, y],
    }, new Attention(this, qkv, cache, state, y, options, tiling));
  }

  route(logits: FloatRows, routing: Routing, options: RouteOptions): Operation {
    return operation("route", {
      reads: [logits],
      writes: [routing.ids, routing.weights, routing.count],
    }, new Route(this, logits, routing, options));
  }

  expertPlan(routing: Routing, rows: number, options: ExpertPlanOptions = {}): GpuExpertPlan {
    return new GpuExpertPlan(this, routing, rows, options);
  }

  expertLinear(
    matrix: GpuMatrix,
    plan: GpuExpertPlan,
    x: Activation,
    y: Activation,
    options: ExpertLinearOptions,
  ): Operation {
    return operation(`experts ${matrix.format.name}`, {
      reads: [x, plan.routing.ids, plan.tiles],
      writes: [y],
    }, new ExpertLinear(this, matrix, plan, x, y, options));
  }

  combine(
    routing: Routing,
    x: FloatRows,
    y: FloatRows,
    options: CombineOptions = {},
  ): Operation {
    return operation("combine", {
      reads: [x, routing.weights, ...options.accumulate ? [y] : []],
      writes: [y],
    }, new Combine(this, routing, x, y, options));
  }

  mix(weights: FloatRows, x: Columns, y: Columns, options: MixOptions): Operation {
    return operation("mix", {
      reads: [weights, x, y],
      writes: [y],
    }, new Mix(this, weights, x, y, options));
  }

  matchMagnitude(y: Columns, reference: Columns, options: { count?: number } = {}): Operation {
    return operation("match magnitude", {
      reads: [y, reference],
      writes: [y],
    }, new MatchMagnitude(this, y, reference, options));
  }

  sparsify(x: FloatRows, factor: number): Operation {
    return operation("sparsify", { reads: [x], writes: [x] }, new Sparsify(this, x, factor));
  }

  convolution(
    x: ColumnRange,
    y: FloatRows,
    step: StepSegments,
    state: Buffer,
    options: ConvolutionOptions,
  ): Operation {
    return operation("convolution", {
      reads: [x, state, step.rows, step.segments],
      writes: [y, state],
    }, new CausalConvolution(this, x, y, step, state, options));
  }

  scan(
    inputs: ScanInputs,
    y: FloatRows,
    step: StepSegments,
    state: Buffer,
    weights: ScanWeights,
    shape: ScanShape,
  ): Operation {
    const { x, dt, b, c, z } = inputs;
    return operation("selective scan", {
      reads: [x, dt, b, c, ...z ? [z] : [], state, step.rows, step.segments],
      writes: [y, state],
    }, new SelectiveScan(this, inputs, y, step, state, weights, shape));
  }

  deltaRule(
    inputs: DeltaInputs,
    y: FloatRows,
    step: StepSegments,
    state: Buffer,
    weights: DeltaWeights,
    shape: DeltaShape,
  ): Operation {
    return operation("gated delta rule", {
      reads: [inputs.qkv.rows, inputs.alpha, inputs.beta, state, step.rows, step.segments],
      writes: [y, state],
    }, new GatedDeltaRule(this, inputs, y, step, state, weights, shape));
  }

  gatedNorm(x: ColumnRange, y: FloatRows, options: GatedNormOptions): Operation {
    return operation("gated norm", {
      reads: options.gate ? [x, options.gate.z] : [x],
      writes: [y],
    }, new GatedNorm(this, x, y, options));
  }

  sampler(options: SamplerOptions): Sampler {
    return new GpuSampler(this, options);
  }

  readBandwidth(): Promise<number> {
    return readBandwidth(this);
  }
}

/** Whatever holds a value that an operation reads or writes. */
type Operand = Buffer | Activation | { readonly rows: FloatRows };

/** A bound operation of this folder. */
interface Bound {
  encode(pass: GPUComputePassEncoder, ...counts: number[]): void;
}

function operation(
  name: string,
  { reads, writes }: { reads: readonly Operand[]; writes: readonly Operand[] },
  bound: Bound,
): Operation {
  return {
    name,
    reads: reads.map(bufferBehind),
    writes: writes.map(bufferBehind),
    encode: (pass, ...counts) => bound.encode(pass as GPUComputePassEncoder, ...counts),
  };
}

function bufferBehind(operand: Operand): Buffer {
  if ("rows" in operand) return operand.rows.floats;
  return "columns" in operand ? bufferOf(operand) : operand;
}

function cachesOf(cache: LayerCache | undefined): Buffer[] {
  return cache ? [cache.keys, ...cache.values ? [cache.values] : []] : [];
}
