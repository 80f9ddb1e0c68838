// Compiles the kernels that a model of 8B would use, of which RADV then writes the machine code to the
// standard error; lines that begin with MARK say which kernel it is. Run by main.ts on the null GPU.
// Arguments: formats of weights, or two such as Q4_K+Q6_K, of queries and keys and of values.

import {
  floatRows,
  GROUP,
  layerCacheBytes,
  openDevice,
  type Operation,
  partialBytes,
  type Pass,
  quantFormats,
  quantizedRows,
  ropeTable,
  STEP_ROW,
  typesOf,
} from "../../kernels/mod.ts";
import {
  chooseTile,
  isStaged,
  type LinearTile,
  quadsAtOnce,
  STAGED,
  stagedBuffers,
  WebGpuDevice,
} from "../../kernels/webgpu/mod.ts";
import { MODELS } from "../kernels/shapes.ts";

/** What begins a line that names a kernel; what follows is a {@linkcode KernelMark}, or nothing. */
export const MARK = "@@@";

/** A kernel whose machine code follows. */
export interface KernelMark {
  /** The operation, its format and its rows. */
  readonly name: string;
  /** Name of the kernel itself: an operation may have several. */
  readonly kernel: string;
  /**
   * Groups of 32 weights that an invocation takes in one turn of its loop; of products. Staged ones
   * count a group anew for each token that it is multiplied with.
   */
  readonly groups?: number;
  /** Products that the kernel computes, each with a loop of its own. Default 1. */
  readonly products?: number;
}

/** Rows of a step, from one sequence that decodes to a long prompt. */
const ROWS = [1, 2, 4, 8, 16, 256];

const CONTEXT = 2048;
const MOST_ROWS = 256;

function mark(text: string): void {
  Deno.stderr.writeSync(new TextEncoder().encode(`\n${MARK} ${text}\n`));
}

let current: Omit<KernelMark, "kernel"> = { name: "" };

/** Has a device, of Deno or of Dawn, mark the kernels that it compiles. */
function markKernels(gpu: GPUDevice): void {
  const prototype: GPUDevice = Object.getPrototypeOf(gpu);
  const { createComputePipeline } = prototype;
  prototype.createComputePipeline = function (descriptor) {
    mark(JSON.stringify({ ...current, kernel: descriptor.label ?? "" } satisfies KernelMark));
    const pipeline = createComputePipeline.call(this, descriptor);
    mark("");
    return pipeline;
  };
}

function compile(device: WebGpuDevice, encode: (pass: Pass) => void): void {
  const recorder = device.record();
  recorder.pass(encode);
  recorder.finish();
}

function compileProducts(device: WebGpuDevice, name: string): void {
  const format = quantFormats.find((format) => format.name === name);
  if (!format) throw new RangeError(`Cannot compile products of ${name}: no such format`);
  const { width, inner } = MODELS["8b"]!;
  const integer = format.kind === "integer" && device.capabilities.packedDot;
  const epsilon = 1e-5;
  const allocate = integer ? quantizedRows : floatRows;
  const normed = allocate(device, "x", MOST_ROWS, width, { deferredEpsilon: epsilon });
  const weight = device.buffer("weight", 4 * width, "weights");
  const norm = { norm: { kind: "rms", epsilon, weight }, y: normed } as const;
  for (const part of ["output", "gate and up"] as const) {
    const isPair = part === "gate and up";
    const sides = isPair ? 2 : 1;
    const matrix = device.matrix(name, format, {
      rows: isPair ? inner : width,
      columns: width,
      sides,
    });
    const quantized = isPair && integer;
    const columns = matrix.rows;
    const y = quantized
      ? quantizedRows(device, "y", MOST_ROWS, columns)
      : floatRows(device, "y", MOST_ROWS, columns);
    const mostFused = isPair ? 0 : device.mostFusedNormRows(matrix);
    // The output's input is no norm, unlike that of gate and up.
    const from = isPair ? normed : allocate(device, "x", MOST_ROWS, width);
    const options = { accumulate: true, ...(mostFused > 0 && { norm }) };
    const product = device.linear(matrix, from, y, isPair ? {} : options);
    // A turn of the loop takes a group of each row, or some quads of it.
    const turn = (tile: LinearTile) =>
      format.kind === "float" ? quadsAtOnce(tile, format, sides) * 4 / GROUP : 1;
    for (const rows of ROWS) {
      const makesGroups = quantized || rows <= mostFused;
      const use = { sides, integer, quantized: makesGroups } as const;
      const tile = chooseTile(device.profile, rows, use);
      // An invocation of the staged tile has 4 by 4 outputs, and takes a group of each from a buffer
      // of int8.
      const turns = integer ? stagedBuffers(device.profile, use) : 1;
      const groups = tile === STAGED ? { groups: 16 * turns } : isStaged(tile) ? {} : {
        groups: tile.rows * sides * turn(tile),
      };
      current = { name: `${part} ${name}, ${rows} rows`, ...groups };
      compile(device, (pass) => product.encode(pass, rows));
    }
  }
}

/** Values in another format than queries and keys, in one kernel for few rows, and each for itself. */
function compileStack(device: WebGpuDevice, names: readonly string[]): void {
  const { width, kvHeads, headDim } = MODELS["8b"]!;
  const formats = names.map((name) => quantFormats.find((format) => format.name === name)!);
  const integer = device.capabilities.packedDot;
  const x = (integer ? quantizedRows : floatRows)(device, "x", MOST_ROWS, width, {
    deferredEpsilon: 1e-5,
  });
  const values = kvHeads * headDim;
  const y = floatRows(device, "y", MOST_ROWS, width + 2 * values);
  const [both, last] = [width + values, values].map((rows, i) =>
    device.matrix("w", formats[i]!, { rows, columns: width })
  );
  const parts = [{ matrix: both!, first: 0 }, { matrix: last!, first: width + values }];
  const stacks = [
    { name: "q and k", parts: parts.slice(0, 1) },
    { name: "v", parts: parts.slice(1) },
    { name: "q, k and v", parts },
  ];
  for (const { name, parts } of stacks) {
    const product = device.stackedLinear(parts, x, y);
    for (const rows of ROWS.filter((rows) => rows <= 8)) {
      const tile = chooseTile(device.profile, rows, { sides: 1, integer, quantized: false });
      const groups = (tile as LinearTile).rows;
      const kernel = parts.map(({ matrix }) => matrix.format.name).join("+");
      current = { name: `${name} ${kernel}, ${rows} rows`, groups, products: parts.length };
      compile(device, (pass) => product.encode(pass, rows));
    }
  }
}

function compileAttention(device: WebGpuDevice): void {
  const { heads, kvHeads, headDim } = MODELS["8b"]!;
  const shape = { heads, kvHeads, headDim };
  const columns = (heads + 2 * kvHeads) * headDim;
  const blocks = CONTEXT / 32;
  const types = typesOf("f16");
  const cached = (part: "keys" | "values") =>
    device.buffer("cache", layerCacheBytes(shape, blocks, types, part), "cache");
  const cache = { keys: cached("keys"), values: cached("values"), types };
  const scratch = (bytes: number) => device.buffer("scratch", bytes, "scratch");
  const state = {
    rows: scratch(STEP_ROW.bytes * MOST_ROWS),
    table: scratch(4 * blocks),
    maxBlocks: blocks,
  };
  const qkv = floatRows(device, "qkv", MOST_ROWS, columns);
  const y = quantizedRows(device, "y", MOST_ROWS, heads * headDim);
  const attention = (tileRows: number, split: number): Operation => {
    const maxSplits = CONTEXT / split;
    return device.attention(qkv, cache, state, y, { ...shape, scale: 0.1 }, {
      tileRows,
      split,
      maxSplits,
      tiles: scratch(16 * MOST_ROWS),
      partials: scratch(partialBytes(shape, MOST_ROWS, maxSplits)),
    });
  };
  current = { name: "attention, 1 rows" };
  compile(device, (pass) => attention(1, device.decodeSplit).encode(pass, 1, CONTEXT));
  const most = device.mostTileRows(shape);
  current = { name: "attention, 256 rows" };
  compile(device, (pass) => attention(most, CONTEXT).encode(pass, MOST_ROWS / most, CONTEXT));
}

function compileRotation(device: WebGpuDevice): void {
  const { heads, kvHeads, headDim } = MODELS["8b"]!;
  const shape = { heads, kvHeads, headDim };
  const scratch = (bytes: number) => device.buffer("scratch", bytes, "scratch");
  const blocks = CONTEXT / 32;
  const state = { rows: scratch(STEP_ROW.bytes), table: scratch(4 * blocks), maxBlocks: blocks };
  const qkv = floatRows(device, "qkv", 1, (heads + 2 * kvHeads) * headDim);
  const norm = { kind: "rms", epsilon: 1e-5, weight: scratch(4 * headDim) } as const;
  const angles = scratch(ropeTable({ rotary: headDim, base: 10000 }, CONTEXT).byteLength);
  for (const type of ["f16", "q8_0", "q4_0"] as const) {
    for (const isNormed of [false, true]) {
      const types = typesOf(type);
      const cached = (part: "keys" | "values") =>
        device.buffer("cache", layerCacheBytes(shape, blocks, types, part), "cache");
      const cache = { keys: cached("keys"), values: cached("values"), types };
      current = { name: `${isNormed ? "norms and " : ""}rotate to ${type}, 1 rows` };
      const rotate = device.rotate(qkv, cache, state, {
        ...{ ...shape, rotary: headDim, halfPairs: isNormed, angles },
        ...(isNormed && { norms: { queries: norm, keys: norm } }),
      });
      compile(device, (pass) => rotate.encode(pass, 1));
    }
  }
}

function compileRows(device: WebGpuDevice): void {
  const { width } = MODELS["8b"]!;
  const x = floatRows(device, "x", MOST_ROWS, width);
  const y = quantizedRows(device, "y", MOST_ROWS, width);
  const weight = device.buffer("weight", 4 * width, "weights");
  current = { name: "norm, 1 rows" };
  const norm = device.norm(x, y, { kind: "rms", epsilon: 1e-5, weight });
  compile(device, (pass) => norm.encode(pass, 1));
}

if (import.meta.main) {
  const device = await openDevice();
  if (!(device instanceof WebGpuDevice)) throw new Error("Cannot compile kernels: no WebGPU");
  markKernels(device.gpu);
  compileAttention(device);
  compileRotation(device);
  compileRows(device);
  for (const name of Deno.args) {
    const formats = name.split("+");
    if (formats.length === 1) compileProducts(device, name);
    else compileStack(device, formats);
  }
  device.check();
  Deno.exit(0);
}
