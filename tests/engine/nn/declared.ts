// Holds what operations of a step say that they read and write against what they do: on a GPU by what
// their kernels are bound to, on the CPU by hiding from each all that it does not name. And plans of
// memory against the values that live in it. What is watched are the classes of the engine and of the
// devices themselves, so that no model and no encoder has to be built otherwise than it is.

import { Buffer as Bytes } from "node:buffer";
import { Scratch, ScratchValue } from "../../../engine/nn/scratch.ts";
import type { StepOperation, StepShape } from "../../../engine/nn/mod.ts";
import { StepMemory } from "../../../engine/nn/memory.ts";
import type { Buffer, Device } from "../../../kernels/mod.ts";
import { CpuDevice } from "../../../kernels/cpu/device.ts";
import { cpu } from "../../../kernels/cpu/memory.ts";
import { createDryGpu } from "../../../kernels/webgpu/dry_gpu.ts";
import { WebGpuDevice } from "../../../kernels/webgpu/mod.ts";

/** Puts other methods in place of some while `run` runs. */
async function instead<T>(
  patches: readonly (readonly [target: object, name: string, make: (own: never) => unknown])[],
  run: () => Promise<T>,
): Promise<T> {
  const owns = patches.map(([target, name, make]) => {
    const own = Reflect.get(target, name);
    Reflect.set(target, name, make(own as never));
    return own;
  });
  try {
    return await run();
  } finally {
    patches.forEach(([target, name], i) => Reflect.set(target, name, owns[i]));
  }
}

const isValue = (buffer: Buffer) => buffer instanceof ScratchValue;

/** "norm" of layer 3 */
const nameOf = ({ name, layer }: StepOperation) =>
  `"${name}"${layer === undefined ? "" : ` of layer ${layer}`}`;

type Allocate = (this: Scratch, operations: readonly StepOperation[]) => void;

/**
 * Where the plans that `run` makes let a value be overwritten that is still read, or kept.
 * @returns how many plans it made, too
 */
export async function planFaults(
  run: () => Promise<void>,
): Promise<{ faults: string[]; plans: number }> {
  const faults: string[] = [];
  let plans = 0;
  const wholes = new Map<Buffer, Buffer>();
  const part = (own: Device["part"]) =>
    function (this: Device, buffer: Buffer, bytes: number) {
      // A dry device may have one object for all; here each part is told from others.
      const taken = { ...own.call(this, buffer, bytes) };
      wholes.set(taken, buffer);
      if (bytes > buffer.size) faults.push(`${bytes} bytes in ${buffer.size}`);
      return taken;
    };
  const kept = new Map<Scratch, Buffer[]>();
  await instead([
    [CpuDevice.prototype, "part", part],
    [WebGpuDevice.prototype, "part", part],
    [Scratch.prototype, "keep", (own: Scratch["keep"]) =>
      function (this: Scratch, value: Buffer) {
        kept.set(this, [...kept.get(this) ?? [], value]);
        own.call(this, value);
      }],
    [
      Scratch.prototype,
      "allocate",
      (own: Allocate) =>
        function (this: Scratch, operations: readonly StepOperation[]) {
          own.call(this, operations);
          plans++;
          const owners = new Map<Buffer, Buffer>();
          const paddings = new Map<Buffer, Set<string>>();
          const wholeOf = (value: Buffer) => wholes.get(this.memoryOf(value))!;
          const check = (value: Buffer, what: string) => {
            if (owners.get(wholeOf(value)) !== value) faults.push(`${what} what another overwrote`);
          };
          for (const operation of operations) {
            for (const value of operation.reads.filter(isValue)) {
              check(value, `${nameOf(operation)} reads`);
            }
            const written = new Set(operation.writes.filter(isValue));
            for (const value of written) {
              const whole = wholeOf(value);
              owners.set(whole, value);
              const padding = paddings.get(whole) ?? new Set();
              paddings.set(whole, padding.add((value as ScratchValue).padding));
            }
            for (const value of [...written, ...operation.reads.filter(isValue)]) {
              check(value, `${nameOf(operation)} ends with`);
            }
          }
          for (const value of kept.get(this) ?? []) check(value, "the host reads");
          for (const padding of paddings.values()) {
            if (padding.size > 1) faults.push(`padding of ${[...padding]} in one place`);
          }
        },
    ],
  ], run);
  return { faults, plans };
}

/** Memory that a value shares with no other, so that whoever touches it is known. */
const alone = () =>
  function (this: Device, buffer: Buffer, bytes: number) {
    return this.buffer(buffer.label, bytes, "scratch");
  };

/** Buffers with scratch memory, caches and states, without constants, which operations do not name. */
function watchBuffers(prototype: object) {
  const buffers = new Set<Buffer>();
  const patches = [
    [prototype, "part", alone],
    [
      prototype,
      "buffer",
      (own: Device["buffer"]) =>
        function (this: Device, label: string, bytes: number, purpose: string, ...others: []) {
          const buffer = own.call(this, label, bytes, purpose, ...others);
          // Copies of states are kept between steps: none of a step knows of them.
          if (purpose !== "weights" && label !== "state copies") buffers.add(buffer);
          return buffer;
        },
    ],
    [
      prototype,
      "free",
      (own: Device["free"]) =>
        function (this: Device, buffer: Buffer) {
          buffers.delete(buffer);
          own.call(this, buffer);
        },
    ],
    [
      StepMemory.prototype,
      "constant",
      (own: StepMemory["constant"]) =>
        function (this: StepMemory, ...given: Parameters<StepMemory["constant"]>) {
          const buffer = own.apply(this, given);
          buffers.delete(buffer);
          return buffer;
        },
    ],
  ] as const;
  return { buffers, patches };
}

/** What all of a buffer's bytes are while it is hidden: NaN in every format, and no index of anything. */
const HIDDEN = 0xff;

let hiddenBytes = new Uint8Array(0);

function hidden(count: number): Uint8Array {
  if (hiddenBytes.length < count) hiddenBytes = new Uint8Array(2 * count).fill(HIDDEN);
  return hiddenBytes.subarray(0, count);
}

const isSame = (a: Uint8Array, b: Uint8Array) => Bytes.compare(a, b) === 0;

/**
 * Where operations on the CPU read or write what they do not name, in all that `run` does. Each finds
 * nothing but NaN in what it does not name, and in what it is the first to write: what depends on these
 * makes NaN of the results too, which the caller has to compare with those that are right.
 */
export async function declarationFaults(run: () => Promise<void>): Promise<string[]> {
  const faults = new Set<string>();
  const { buffers, patches } = watchBuffers(CpuDevice.prototype);
  let device: Device | undefined;
  await instead([
    ...patches,
    [CpuDevice.prototype, "record", (own: Device["record"]) =>
      function (this: Device) {
        device = this;
        return own.call(this);
      }],
    [
      Scratch.prototype,
      "allocate",
      (own: Allocate) =>
        function (this: Scratch, operations: readonly StepOperation[]) {
          own.call(this, operations);
          const written = new Set<Buffer>();
          for (const operation of operations) {
            const { encode } = operation;
            const reads = new Set(operation.reads.map((buffer) => this.memoryOf(buffer)));
            const writes = new Set(operation.writes.map((buffer) => this.memoryOf(buffer)));
            const fresh = operation.writes.filter(isValue)
              .filter((value) => (value as ScratchValue).padding === "")
              .map((value) => this.memoryOf(value))
              .filter((buffer) => !written.has(buffer));
            for (const buffer of writes) written.add(buffer);
            // Passes of the CPU are done when they are submitted: so is each operation, by itself.
            const alone = (_pass: unknown, step: StepShape) => {
              for (const buffer of fresh) cpu(buffer).bytes.fill(HIDDEN);
              const others = [...buffers].filter((buffer) =>
                !reads.has(buffer) && !writes.has(buffer)
              );
              const held = others.map((buffer) => cpu(buffer).bytes.slice());
              for (const buffer of others) cpu(buffer).bytes.fill(HIDDEN);
              const before = [...reads].filter((buffer) => !writes.has(buffer))
                .map((buffer) => [buffer, cpu(buffer).bytes.slice()] as const);
              const recorder = device!.record();
              recorder.pass((pass) => encode(pass, step));
              device!.submit(recorder.finish());
              const touched = (buffer: Buffer) =>
                faults.add(`${nameOf(operation)} writes ${buffer.label}, which it does not name`);
              others.forEach((buffer, i) => {
                if (!isSame(cpu(buffer).bytes, hidden(buffer.size))) touched(buffer);
                cpu(buffer).bytes.set(held[i]!);
              });
              for (const [buffer, bytes] of before) {
                if (!isSame(cpu(buffer).bytes, bytes)) touched(buffer);
              }
            };
            Reflect.set(operation, "encode", alone);
          }
        },
    ],
  ], run);
  return [...faults];
}

/** Steps that between them run all variants of all operations: few rows and many, decoding and not. */
export const GPU_STEPS: readonly Omit<StepShape, "outputs">[] = [
  { rows: 1, sequences: 1, decodeRows: 1, decodeContext: 9, prefillTiles: 0, prefillContext: 0 },
  { rows: 2, sequences: 2, decodeRows: 2, decodeContext: 40, prefillTiles: 0, prefillContext: 0 },
  {
    rows: 258,
    sequences: 2,
    decodeRows: 1,
    decodeContext: 9,
    prefillTiles: 33,
    prefillContext: 64,
  },
].map((step) => ({ ...step, mediaRows: 0, adapters: 0 }));

/** A GPU whose dispatches note what they are bound to; nothing is computed. */
function noting(limits: GPUSupportedLimits, note: (buffer: Buffer, writes: boolean) => void) {
  const nothing = () => ({});
  interface Bound {
    layout: GPUBindGroupLayoutDescriptor;
    entries: GPUBindGroupEntry[];
  }
  let bound: Bound | undefined;
  const pass = {
    setPipeline() {},
    setBindGroup: (_index: number, group: unknown) => bound = group as Bound,
    dispatchWorkgroups() {
      const types = new Map(
        [...bound!.layout.entries].map(({ binding, buffer }) => [binding, buffer!.type]),
      );
      for (const { binding, resource } of bound!.entries) {
        const { buffer } = resource as GPUBufferBinding;
        note(buffer, types.get(binding) === "storage");
      }
    },
    end() {},
  };
  return {
    ...createDryGpu(limits),
    createBindGroupLayout: (layout: GPUBindGroupLayoutDescriptor) => layout,
    createComputePipeline: nothing,
    createCommandEncoder: () => ({ beginComputePass: () => pass, finish: nothing }),
    createBindGroup: (group: unknown) => group,
  } as unknown as GPUDevice;
}

/**
 * Where kernels of a GPU are bound to what their operation does not name, or not to what it names, in
 * the networks that `run` builds on the device that it is given.
 */
export async function gpuFaults(
  profile: WebGpuDevice["profile"],
  run: (device: WebGpuDevice) => Promise<unknown>,
): Promise<string[]> {
  const faults = new Set<string>();
  const { buffers, patches } = watchBuffers(WebGpuDevice.prototype);
  let notes: { buffer: Buffer; writes: boolean }[] = [];
  const gpu = noting(profile.limits, (buffer, writes) => notes.push({ buffer, writes }));
  const device = new WebGpuDevice(gpu, profile);
  const plans: { scratch: Scratch; operations: readonly StepOperation[] }[] = [];
  await instead([
    ...patches,
    [
      Scratch.prototype,
      "allocate",
      (own: Allocate) =>
        function (this: Scratch, operations: readonly StepOperation[]) {
          own.call(this, operations);
          plans.push({ scratch: this, operations });
        },
    ],
  ], () => run(device));
  for (const { scratch, operations } of plans) {
    for (const operation of operations) {
      notes = [];
      for (const step of GPU_STEPS) {
        device.record().pass((pass) => operation.encode(pass, { ...step, outputs: step.rows }));
      }
      const memoryOf = (buffer: Buffer) => scratch.memoryOf(buffer);
      const reads = new Set(operation.reads.map(memoryOf));
      const writes = new Set(operation.writes.map(memoryOf));
      const bound = notes.filter(({ buffer }) =>
        buffers.has(buffer) && !/ params$|^slopes$/.test(buffer.label)
      );
      for (const { buffer, writes: isWritten } of bound) {
        if (isWritten ? writes.has(buffer) : reads.has(buffer) || writes.has(buffer)) continue;
        const verb = isWritten ? "writes" : "reads";
        faults.add(`${nameOf(operation)} ${verb} ${buffer.label}, which it does not name`);
      }
      if (notes.length === 0) continue;
      for (const buffer of [...reads, ...writes]) {
        if (!buffers.has(buffer) || bound.some((note) => note.buffer === buffer)) continue;
        faults.add(`${nameOf(operation)} names ${buffer.label}, which it does not use`);
      }
    }
  }
  device[Symbol.dispose]();
  return [...faults];
}
