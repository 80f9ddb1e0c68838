// Products by weight matrices of every format: those of attention and feed-forward blocks, pairs with
// their gate, the head, the experts of a mixture; on WebGPU by every tile near the one that is chosen.

import {
  allocateRouting,
  type Device,
  expertLinearReference,
  floatRows,
  gateReference,
  linearReference,
  type Matrix,
  type Operation,
  type QuantFormat,
  quantFormats,
  type QuantizedRows,
  quantizedRows,
  quantizeReference,
} from "../../kernels/mod.ts";
import {
  chooseTile,
  type GpuMatrix,
  isStaged,
  Linear,
  MATRICES,
  STAGED,
  type Tile,
  tileFault,
  tileName,
  type TileUse,
  WebGpuDevice,
} from "../../kernels/webgpu/mod.ts";
import { randomWeights } from "../random_weights.ts";
import { MODELS } from "./shapes.ts";
import {
  type BoundCase,
  counted,
  FLOAT_TOLERANCE,
  type KernelCase,
  oneSequence,
  randomFloats,
  ROWS,
  some,
  type Variant,
  type Workbench,
} from "./workbench.ts";

/** Formats that are measured if no word names one. */
export const USUAL_FORMATS: readonly string[] = ["Q4_K", "Q8_0", "F16"];

/**
 * Total bytes of the copies of a small matrix: more than caches hold, as the layers of a model are.
 */
const COLD_BYTES = 64 * 2 ** 20;
const MOST_COPIES = 16;

/** Most rows of a head, because there is at most one output for each sequence. */
const MOST_HEAD_ROWS = 16;

/** Rows and outputs of a product that are compared with the reference. */
const CHECKED_ROWS = 3;
const CHECKED_OUTPUTS = 24;

const GROUP = 32;

/** A product by a matrix of some format. */
export interface Product {
  readonly format: QuantFormat;
  /** Outputs of each side. */
  readonly outputs: number;
  readonly columns: number;
  readonly sides?: 1 | 2;
  readonly rows: number;
}

/** All products, by format, model and part. */
export function productCases(): KernelCase[] {
  const cases: KernelCase[] = [];
  for (const format of quantFormats) {
    for (const [model, shape] of Object.entries(MODELS)) {
      const { width, heads, kvHeads, headDim, inner, vocabulary, experts } = shape;
      const attended = heads * headDim;
      const parts: Record<string, Omit<Product, "format" | "rows">> = {
        qkv: { outputs: attended + 2 * kvHeads * headDim, columns: width },
        output: { outputs: width, columns: attended },
        head: { outputs: vocabulary, columns: width },
        ...!experts && {
          gated: { outputs: inner, columns: width, sides: 2 },
          down: { outputs: width, columns: inner },
        },
      };
      for (const [part, { outputs, columns, sides = 1 }] of Object.entries(parts)) {
        if (columns % format.blockSize !== 0) continue;
        for (const rows of ROWS) {
          if (part === "head" && rows > MOST_HEAD_ROWS) continue;
          const size = `${sides * outputs}x${columns}`;
          cases.push({
            words: ["linear", format.name, model, part, size, counted(rows, "rows")],
            bind: (bench) => bindLinear(bench, { format, outputs, columns, sides, rows }),
          });
        }
      }
      if (!experts || inner % format.blockSize !== 0) continue;
      for (const rows of ROWS) {
        const size = `${experts.count}x${width}x${inner}`;
        cases.push({
          words: ["experts", format.name, model, "down", size, counted(rows, "rows")],
          bind: (bench) =>
            bindExperts(bench, { format, outputs: width, columns: inner, rows }, experts),
        });
        if (width % format.blockSize !== 0) continue;
        const gated = { format, outputs: inner, columns: width, sides: 2, rows } as const;
        cases.push({
          words: [
            ...["experts", format.name, model, "gated"],
            ...[`${experts.count}x${2 * inner}x${width}`, counted(rows, "rows")],
          ],
          bind: (bench) => bindExperts(bench, gated, experts),
        });
      }
    }
  }
  return cases;
}

/** A matrix of random weights, and its bytes. */
export function randomMatrix(
  device: Device,
  { format, outputs, columns, sides = 1 }: Omit<Product, "rows">,
): { bytes: Uint8Array; upload: (unit?: number) => Matrix } {
  const rowBytes = columns / format.blockSize * format.blockBytes;
  const sideBytes = outputs * rowBytes;
  const bytes = new Uint8Array(sides * sideBytes);
  let at = 0;
  const values = sides * outputs * columns;
  for (const piece of randomWeights(format.name, values, { mean: 0, deviation: 0.05, seed: 1 })) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return {
    bytes,
    upload(unit) {
      const shape = { rows: outputs, columns, sides, ...(unit && { unit }) };
      const matrix = device.matrix("bench", format, shape);
      for (let side = 0 as 0 | 1; side < sides; side++) {
        const writer = device.matrixWriter(matrix, side);
        writer.append(bytes.subarray(side * sideBytes, (side + 1) * sideBytes));
        writer.finish();
      }
      return matrix;
    },
  };
}

/**
 * Random rows in the form that a format's products read, and the values that these products read in
 * them.
 */
export function randomInput(bench: Workbench, format: QuantFormat, rows: number, columns: number) {
  const { device } = bench;
  const values = randomFloats(rows * columns, rows);
  const floats = bench.rows(rows, columns, values);
  const isInteger = format.kind === "integer" && device.profile.capabilities.packedDot;
  if (!isInteger) return { x: floats, values };
  const x: QuantizedRows = quantizedRows(device, "bench", rows, columns);
  const quantize = device.quantize(floats, x);
  bench.run((pass) => quantize.encode(pass, rows));
  for (let group = 0; group < values.length; group += GROUP) {
    const { codes, scale } = quantizeReference(values.subarray(group, group + GROUP));
    codes.forEach((code, i) => values[group + i] = code * scale);
  }
  return { x, values };
}

/** Some rows of a matrix, decoded. */
export function decode(bytes: Uint8Array, { format, columns }: Product, rows: readonly number[]) {
  const blocks = columns / format.blockSize;
  const rowBytes = blocks * format.blockBytes;
  const weights = new Float32Array(rows.length * columns);
  rows.forEach((row, at) => {
    const own = bytes.slice(row * rowBytes, (row + 1) * rowBytes);
    weights.set(format.dequantize(own, blocks), at * columns);
  });
  return weights;
}

function bindLinear(bench: Workbench, product: Product): BoundCase {
  const { format, outputs, columns, sides = 1, rows } = product;
  const { device } = bench;
  if (sides === 2 && !device.canPair(format, outputs, columns)) {
    throw new RangeError("the device does not pair such matrices");
  }
  const { bytes, upload } = randomMatrix(device, product);
  const copies = Math.min(MOST_COPIES, Math.ceil(COLD_BYTES / bytes.length));
  const matrices = Array.from({ length: copies }, () => upload());
  const { x, values } = randomInput(bench, format, rows, columns);
  const y = floatRows(device, "bench", rows, outputs);
  const encode: Variant["encode"] = (operation, pass) => operation.encode(pass, rows);
  const chosen = matrices.map((matrix) => device.linear(matrix, x, y));
  const tiled = device instanceof WebGpuDevice
    ? tilesNear(device, rows, { sides, integer: "groups" in x, quantized: false }).map((tile) => ({
      name: tileName(tile),
      operations: matrices.map((matrix, i): Operation => {
        const linear = new Linear(device, matrix as GpuMatrix, x, y, { tile });
        return {
          ...chosen[i]!,
          prepare: (most) => linear.prepare(most!),
          encode: (pass, count) => linear.encode(pass as GPUComputePassEncoder, count!),
        };
      }),
      encode,
    }))
    : [];
  return {
    variants: [{ name: "", operations: chosen, encode }, ...tiled],
    counts: oneSequence(rows),
    reset: () => bench.spoil(y, rows),
    async compare() {
      const [tokens, picked] = [some(rows, CHECKED_ROWS), some(outputs, CHECKED_OUTPUTS)];
      const all = await bench.read(y, tokens);
      const actual = tokens.flatMap((_, at) => picked.map((output) => all[at * outputs + output]!));
      const input = new Float32Array(tokens.length * columns);
      tokens.forEach((token, at) => {
        input.set(values.subarray(token * columns, (token + 1) * columns), at * columns);
      });
      const multiply = (side: number) => {
        const own = decode(bytes, product, picked.map((output) => side * outputs + output));
        return linearReference(own, input, { rows: picked.length, columns, tokens: tokens.length });
      };
      const first = multiply(0);
      const second = sides === 2 ? multiply(1) : undefined;
      const expected = second
        ? first.map((gate, i) => gateReference("silu", gate, second[i]!))
        : first;
      return { actual, expected, tolerance: FLOAT_TOLERANCE };
    },
  };
}

/** Tiles that differ from the chosen one in one number by a factor of two, and the staged ones. */
function tilesNear(
  { profile }: WebGpuDevice,
  rows: number,
  use: { sides: 1 | 2; integer: boolean; quantized: boolean },
): Tile[] {
  const chosen = chooseTile(profile, rows, use);
  const near: Tile[] = [];
  if (!isStaged(chosen)) {
    for (const key of ["rows", "cols", "lanes", "workgroup"] as const) {
      for (const factor of [0.5, 2]) near.push({ ...chosen, [key]: chosen[key] * factor });
    }
  } else near.push({ rows: 4 / use.sides, cols: 4, lanes: 1, workgroup: 64 });
  if (rows > 1) near.push(...([MATRICES, STAGED] as const).filter((tile) => tile !== chosen));
  return near.filter((tile) => tileFault(profile, tile, use) === undefined);
}

/** Whether the device has a tile of so many pairs. */
function hasTile({ profile }: WebGpuDevice, use: TileUse & { cols: number }): boolean {
  try {
    chooseTile(profile, use.cols, use);
    return true;
  } catch {
    return false;
  }
}

function bindExperts(
  bench: Workbench,
  product: Product,
  { count, topK }: { count: number; topK: number },
): BoundCase {
  const { format, outputs, columns, sides = 1, rows } = product;
  const { device } = bench;
  if (sides === 2 && !device.canPair(format, count * outputs, columns)) {
    throw new RangeError("the device does not pair such matrices");
  }
  const { bytes, upload } = randomMatrix(device, { ...product, outputs: count * outputs });
  const matrix = upload(outputs);
  const pairs = rows * topK;
  const routing = allocateRouting(device, rows, { experts: count, topK });
  // The experts of a row differ, and every expert is chosen.
  const ids = Uint32Array.from(
    { length: pairs },
    (_, pair) => (Math.floor(pair / topK) * 37 + pair % topK * 11) % count,
  );
  device.write(routing.ids, 0, ids);
  device.write(routing.count, 0, Uint32Array.of(pairs));
  const { x, values } = randomInput(bench, format, pairs, columns);
  const y = floatRows(device, "bench", pairs, outputs);
  const use = { sides, integer: "groups" in x, quantized: false };
  const widths = device instanceof WebGpuDevice
    ? [1, 2, 4, 8].filter((cols) => hasTile(device, { ...use, cols }))
    : [];
  const variants = [undefined, ...widths].map((cols): Variant => {
    const grouped = device.expertPairs(routing, rows, cols === undefined ? {} : { cols });
    grouped.prepare?.(rows);
    bench.run((pass) => grouped.encode(pass, rows));
    const operation = device.expertLinear(matrix, grouped, x, y, { share: 1 });
    return {
      name: cols === undefined ? "" : `${cols} pairs`,
      operations: [operation],
      encode: (own, pass) => own.encode(pass, rows),
    };
  });
  return {
    variants,
    counts: oneSequence(rows),
    reset: () => bench.spoil(y, pairs),
    async compare() {
      const [chosen, picked] = [some(pairs, CHECKED_ROWS), some(outputs, CHECKED_OUTPUTS)];
      const all = await bench.read(y, chosen);
      const actual = chosen.flatMap((_, at) => picked.map((output) => all[at * outputs + output]!));
      const expected = chosen.flatMap((pair) => {
        const input = values.slice(pair * columns, (pair + 1) * columns);
        const multiply = (side: number) => {
          const first = (side * count + ids[pair]!) * outputs;
          const own = decode(bytes, product, picked.map((output) => first + output));
          return expertLinearReference(own, input, [0], { rows: picked.length, columns, share: 1 });
        };
        if (sides === 1) return [...multiply(0)];
        const second = multiply(1);
        return [...multiply(0).map((gate, i) => gateReference("silu", gate, second[i]!))];
      });
      return { actual, expected, tolerance: FLOAT_TOLERANCE };
    },
  };
}
