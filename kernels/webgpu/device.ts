// The device interface on WebGPU: Deno's own, a browser's, or any other implementation. For each
// operation there is a function that binds it, in the table below.

import type {
  Commands,
  Device,
  DeviceMaker,
  DeviceSettings,
  PassTimes,
  Readback,
  Recorder,
  Sampler,
} from "../device.ts";
import { describe, type OperationMakers, operationMakers, type OperationName } from "../makers.ts";
import type { Buffer, Operation, Pass } from "../operation.ts";
import { type FloatRows, GROUP } from "../ops/activation.ts";
import type { ExpertPairsOptions, Routing } from "../ops/experts.ts";
import type { HeadShape } from "../ops/kv_cache.ts";
import type { Affine, MatrixShape, MatrixWriter, StackedMatrix } from "../ops/matrix.ts";
import type { SamplerOptions } from "../ops/sampling/mod.ts";
import { type QuantFormat, quantFormat } from "../quants/mod.ts";
import type { Tuner } from "../tuning.ts";
import { Attention } from "./attention.ts";
import { mostTileRows } from "./attention_shares.ts";
import { type Binders, type Bound } from "./bound.ts";
import { usualSplit } from "./candidates.ts";
import { columnBinders } from "./columns.ts";
import { GpuExpertPairs } from "./expert_pairs.ts";
import { ExpertLinear } from "./experts.ts";
import { Gpu, type GpuProfile } from "./gpu.ts";
import { Linear, mostFusedNormRows } from "./linear.ts";
import {
  allocateMatrix,
  canPair,
  type GpuMatrix,
  GpuMatrixWriter,
  isWhole,
  setAffine,
  withoutSides,
} from "./matrix.ts";
import { implementation } from "./platform.ts";
import { readBandwidth, timePasses } from "./time_passes.ts";
import { GpuReadback } from "./readback.ts";
import { recurrentBinders } from "./recurrent.ts";
import { rotate } from "./rotate.ts";
import { rowBinders } from "./rows.ts";
import { spanBinders } from "./spans.ts";
import { GpuSampler } from "./sampling/sampler.ts";
import { StackedLinear } from "./stacked_linear.ts";
import { GpuTuner } from "./tuning/tuner.ts";

/** ggml_type of f32. */
const F32 = 0;

/**
 * Dispatches of the first part of a captured step: the fewer, the sooner they are submitted, but while
 * the device runs them, the rest has to be submitted too.
 */
const FIRST_DISPATCHES = 24;

const BINDERS: Binders<OperationName> = {
  ...columnBinders,
  ...recurrentBinders,
  ...rowBinders,
  ...spanBinders,
  attention: (...operands) => new Attention(...operands),
  expertLinear: (...operands) => new ExpertLinear(...operands),
  linear: (...operands) => new Linear(...operands),
  rotate,
  stackedLinear: (...operands) => new StackedLinear(...operands),
};

/** The methods that make operations, from the table. */
export interface WebGpuDevice extends OperationMakers {}

/** An open device on WebGPU. */
export class WebGpuDevice extends Gpu implements Device {
  /** Buffers are memories of their own. */
  readonly workingMemory = undefined;
  #tuner: GpuTuner | undefined;

  /** For {@linkcode Gpu.open} and others. */
  constructor(...gpu: ConstructorParameters<typeof Gpu>) {
    super(...gpu);
    Object.assign(
      this,
      operationMakers((name, operands): Operation => {
        // Matrices and pairs that a device is given are those that it made.
        const bind = BINDERS[name] as (device: Gpu, ...operands: readonly unknown[]) => Bound;
        const kernel = bind(this, ...operands);
        return {
          ...describe(name, operands),
          prepare: (...most) => kernel.prepare?.(...most),
          encode: (pass, ...counts) => kernel.encode(pass as GPUComputePassEncoder, ...counts),
        };
      }),
    );
  }

  override share(): WebGpuDevice {
    return new WebGpuDevice(this.gpu, this.profile, this.owner ?? this);
  }

  /** WebGPU's operations take whole buffers and ignore their sizes. */
  part(buffer: Buffer): Buffer {
    return buffer;
  }

  canPair(format: QuantFormat, rows: number, columns: number, apart = false): boolean {
    return canPair(format, rows, columns) &&
      (!apart || rows % GROUP === 0 && isWhole(this, format, { rows, columns, sides: 2 }));
  }

  sidesOf(matrix: GpuMatrix): StackedMatrix<GpuMatrix>[] {
    return [{ matrix: withoutSides(matrix), first: 0 }];
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

  expertPairs(routing: Routing, rows: number, options: ExpertPairsOptions = {}): GpuExpertPairs {
    return new GpuExpertPairs(this, routing, rows, options);
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

/** The runtime's own WebGPU. */
export const webgpu: DeviceMaker = webGpu("webgpu");

/** Dawn's; see platform.ts. */
export const dawn: DeviceMaker = webGpu("dawn");

/** Devices of the runtime's WebGPU, or of Dawn, unless the options bring another. */
function webGpu(kind: "webgpu" | "dawn"): DeviceMaker {
  const open = async (options: DeviceSettings): Promise<WebGpuDevice> => {
    const gpu = options.gpu ?? await implementation(kind);
    return await WebGpuDevice.open(gpu ? { ...options, gpu } : options);
  };
  return {
    open,
    async profileOf(options) {
      using device = await open(options);
      return device.profile;
    },
    dry: (profile) => WebGpuDevice.dry(profile as GpuProfile),
  };
}

/** One call of a compute pass's methods; what is missing stays as the dispatch before set it. */
interface CapturedDispatch {
  pipeline?: GPUComputePipeline;
  bindGroup?: GPUBindGroup;
  readonly workgroups: readonly [x: number, y: number, z: number];
}

/**
 * Captures the dispatches of `encode`, in one part or two. Each records its dispatches into a pass that
 * has no state yet.
 *
 * @param most dispatches of the first part; the rest is the second
 */
export function captureDispatches(
  encode: (pass: Pass) => void,
  most = Infinity,
): ((pass: GPUComputePassEncoder) => void)[] {
  const captured: CapturedDispatch[] = [];
  let [pipeline, bindGroup]: [GPUComputePipeline?, GPUBindGroup?] = [];
  let [lastPipeline, lastBindGroup]: [GPUComputePipeline?, GPUBindGroup?] = [];
  // The methods of a pass that encodeDispatch() of kernel.ts calls.
  const recorder: Pick<GPUComputePassEncoder, "setPipeline" | "dispatchWorkgroups"> & {
    setBindGroup(index: 0, group: GPUBindGroup): void;
  } = {
    setPipeline: (set) => void (pipeline = set),
    setBindGroup: (_, set) => void (bindGroup = set),
    dispatchWorkgroups(x, y = 1, z = 1) {
      if (captured.length === most) lastPipeline = lastBindGroup = undefined;
      captured.push({
        ...(pipeline === lastPipeline ? {} : { pipeline }),
        ...(bindGroup === lastBindGroup ? {} : { bindGroup }),
        workgroups: [x, y, z],
      });
      [lastPipeline, lastBindGroup] = [pipeline, bindGroup];
    },
  };
  encode(recorder as Pass);
  const parts = captured.length > most
    ? [captured.slice(0, most), captured.slice(most)]
    : [captured];
  return parts.map((part) => (pass) => {
    for (const { pipeline, bindGroup, workgroups: [x, y, z] } of part) {
      if (pipeline) pass.setPipeline(pipeline);
      if (bindGroup) pass.setBindGroup(0, bindGroup);
      // Dawn converts each argument in some 0.25 µs, a sixth of the call.
      if (y === 1 && z === 1) pass.dispatchWorkgroups(x);
      else pass.dispatchWorkgroups(x, y, z);
    }
  });
}
