// A compiled compute kernel and its dispatches. The .wgsl file declares each binding and the
// uniform struct `Params`, and both are parsed from it, so that TypeScript binds by name and packs
// `Params` without a second declaration. Bind groups are made once and replayed.

import type { Buffer, BufferRange } from "../operation.ts";
import { GpuError } from "../errors.ts";
import type { Platform } from "./platform.ts";
import { type Constants, expandTemplate, type Parts, renamed } from "./template.ts";

/** The part of a device that compiling a kernel needs; {@linkcode Gpu} has it. */
export interface KernelHost {
  readonly gpu: GPUDevice;
  readonly platform: Platform;
  buffer(label: string, bytes: number, purpose: string, usage: number): GPUBuffer;
  write(buffer: GPUBuffer, offset: number, data: ArrayBuffer): void;
}

export interface KernelSource {
  /** Name for errors and profiles. */
  readonly name: string;
  /** Text of the .wgsl file; its entry point is `main`. */
  readonly source: string;
  /** Parts of the text that have files of their own. */
  readonly parts?: Parts;
  /** Extensions of WGSL that it enables, besides that of subgroups. */
  readonly extensions?: readonly string[];
  /** Compile-time constants of this variant. */
  readonly constants?: Constants;
  /** WGSL that is put before the source: weight formats, shared functions. */
  readonly snippets?: readonly string[];
  /** Sources whose functions `main` calls too, under the names that {@linkcode renamed} gives them. */
  readonly joined?: readonly KernelSource[];
}

/** A buffer, or a range of one. */
export type Resource = Buffer | BufferRange;

/** Number of workgroups in x, y and z. */
export type Workgroups = readonly [x: number, y?: number, z?: number];

/** A kernel with its buffers, which can be run with any number of workgroups. */
export interface Dispatch {
  readonly kernel: Kernel;
  readonly bindGroup: GPUBindGroup;
}

const BINDING =
  /@group\(0\)\s*@binding\((\d+)\)\s*var<(storage, read_write|storage, read|storage|uniform)>\s*(\w+)/g;

const TYPES: Record<string, GPUBufferBindingType> = {
  "storage": "read-only-storage",
  "storage, read": "read-only-storage",
  "storage, read_write": "storage",
  "uniform": "uniform",
};

/** A pipeline with the layout that its WGSL declares. Get one from {@linkcode Gpu.kernel}. */
export class Kernel {
  readonly name: string;
  /** The WGSL after expansion, for people who debug it. */
  readonly code: string;
  readonly #device: KernelHost;
  readonly #layout: GPUBindGroupLayout;
  readonly #bindings = new Map<string, number>();
  readonly #params: Params[];
  readonly #descriptor: GPUComputePipelineDescriptor;
  #pipeline: GPUComputePipeline | undefined;
  /** The bind group of the first dispatch. */
  #bindGroup: GPUBindGroup | undefined;

  /** Errors: GpuError for members of `Params` that are not one word each. */
  constructor(device: KernelHost, source: KernelSource) {
    const { name, constants = {}, extensions = [], joined = [] } = source;
    this.name = name;
    this.#device = device;
    const usesSubgroups = Boolean(constants.SUBGROUPS || constants.SHUFFLES);
    const subgroups = usesSubgroups && device.platform.subgroupsDirective ? ["subgroups"] : [];
    const enables = [...subgroups, ...extensions].map((extension) => `enable ${extension};\n`);
    const others = joined.map((other, i) => renamed(expand(other), i + 1));
    this.code = [...enables, expand(source), ...others].join("");
    const entries: GPUBindGroupLayoutEntry[] = [];
    for (const [, index, access, variable] of this.code.matchAll(BINDING)) {
      this.#bindings.set(variable, Number(index));
      const buffer = { type: TYPES[access] };
      entries.push({ binding: Number(index), visibility: 4, /* COMPUTE */ buffer });
    }
    this.#params = parseParams(name, this.code);
    const { gpu } = device;
    this.#layout = gpu.createBindGroupLayout({ label: name, entries });
    this.#descriptor = {
      label: name,
      layout: gpu.createPipelineLayout({ bindGroupLayouts: [this.#layout] }),
      compute: {
        module: gpu.createShaderModule({ label: name, code: this.code }),
        entryPoint: "main",
      },
    };
  }

  /** The pipeline, compiled here if prepare() has not done so. */
  get pipeline(): GPUComputePipeline {
    return this.#pipeline ??= this.#device.gpu.createComputePipeline(this.#descriptor);
  }

  /** Whether it is compiled. */
  get isReady(): boolean {
    return this.#pipeline !== undefined;
  }

  /** Compiles it, in parallel with others if the implementation can. Errors: GpuError. */
  async prepare(): Promise<void> {
    try {
      this.#pipeline = await this.#device.gpu.createComputePipelineAsync(this.#descriptor);
    } catch (error) {
      throw new GpuError(`Cannot compile ${this.name}: ${(error as Error).message}`);
    }
  }

  /** Records a dispatch without workgroups, after it was bound. */
  encodeNothing(pass: GPUComputePassEncoder): void {
    if (!this.#bindGroup) return;
    pass.setPipeline(this.pipeline);
    pass.setBindGroup(0, this.#bindGroup);
    pass.dispatchWorkgroups(0);
  }

  /**
   * Binds buffers by their WGSL names, and packs `params` into the uniform struct `Params`; those of
   * joined sources follow. Errors: GpuError naming what is missing or not declared.
   */
  bind(resources: Record<string, Resource>, ...params: Record<string, number>[]): Dispatch {
    const bound: Record<string, Resource> = { ...resources };
    this.#params.forEach((own, i) => bound[own.variable] = this.#packParams(own, params[i] ?? {}));
    const entries: GPUBindGroupEntry[] = [];
    for (const [name, binding] of this.#bindings) {
      const resource = bound[name];
      if (!resource) throw new GpuError(`Cannot bind ${this.name}: nothing given for "${name}"`);
      const range = "buffer" in resource ? resource : { buffer: resource };
      entries.push({ binding, resource: { ...range, buffer: range.buffer as GPUBuffer } });
    }
    for (const name in bound) {
      if (!this.#bindings.has(name)) {
        throw new GpuError(`Cannot bind ${this.name}: it does not declare "${name}"`);
      }
    }
    const bindGroup = this.#device.gpu.createBindGroup({
      label: this.name,
      layout: this.#layout,
      entries,
    });
    this.#bindGroup ??= bindGroup;
    return { kernel: this, bindGroup };
  }

  #packParams({ variable, members }: Params, params: Record<string, number>): GPUBuffer {
    const data = new DataView(new ArrayBuffer(Math.ceil(members.length / 4) * 16));
    members.forEach(({ name, type }, i) => {
      const value = params[name];
      if (value === undefined) {
        throw new GpuError(`Cannot bind ${this.name}: nothing given for "${variable}.${name}"`);
      }
      if (type === "f32") data.setFloat32(4 * i, value, true);
      else if (holds(type, value)) data.setUint32(4 * i, value, true);
      else {
        const state = `"${variable}.${name}" is a ${type}, the value ${value}`;
        throw new GpuError(`Cannot bind ${this.name}: ${state}`);
      }
    });
    const usage = 0x40 | 0x8; // UNIFORM | COPY_DST
    const buffer = this.#device.buffer(`${this.name} params`, data.byteLength, "scratch", usage);
    this.#device.write(buffer, 0, data.buffer as ArrayBuffer);
    return buffer;
  }
}

/** A member of `struct Params`. */
interface Member {
  name: string;
  type: string;
}

/** A uniform struct, of members of one word each. */
interface Params {
  variable: string;
  members: Member[];
}

function expand({ source, constants = {}, snippets = [], parts }: KernelSource): string {
  return expandTemplate([...snippets, source].join("\n"), constants, parts);
}

/** Whether a number can be a value of an integer type. */
function holds(type: string, value: number): boolean {
  const [least, most] = type === "i32" ? [-(2 ** 31), 2 ** 31 - 1] : [0, 2 ** 32 - 1];
  return Number.isInteger(value) && least <= value && value <= most;
}

/** The structs `Params` of the code, and those of joined sources. Errors: GpuError, see `Kernel`. */
function parseParams(kernel: string, code: string): Params[] {
  const plain = code.replaceAll(/\/\/.*|\/\*[^]*?\*\//g, "");
  const structs = new Map(
    Array.from(plain.matchAll(/\bstruct\s+(\w+)\s*\{([^}]*)\}/g), ([, name, body]) => [name, body]),
  );
  return Array.from(
    plain.matchAll(/var<uniform>\s*(\w+)\s*:\s*(Params\w*)/g),
    ([, variable, type]) => ({ variable, members: parseMembers(kernel, structs.get(type) ?? "") }),
  );
}

/**
 * Members of a struct in order. Each must be one word, since its offset is computed from its index;
 * other types would move the members after them.
 */
function parseMembers(kernel: string, body: string): Member[] {
  // Types may contain commas, but only within angle brackets.
  const members = body.split(/,(?![^<]*>)/).map((member) => member.trim()).filter(Boolean);
  return members.map((member) => {
    const [, name, type] = /^(\w+)\s*:\s*(u32|i32|f32)$/.exec(member) ?? [];
    if (!name) {
      const state = `"${member}" of its Params is not one word (u32, i32 or f32)`;
      throw new GpuError(`Cannot compile ${kernel}: ${state}`);
    }
    return { name, type };
  });
}

/**
 * Records a dispatch into a pass, with at most 65,535 workgroups per dimension. Without workgroups
 * it does nothing.
 */
export function encodeDispatch(
  pass: GPUComputePassEncoder,
  dispatch: Dispatch,
  count: Workgroups,
): void {
  const [x, y = 1, z = 1] = count;
  if (x * y * z === 0) return;
  pass.setPipeline(dispatch.kernel.pipeline);
  pass.setBindGroup(0, dispatch.bindGroup);
  pass.dispatchWorkgroups(x, y, z);
}
