// Operations on the rows of activations: norms, embeddings, quantization, activation functions and
// elementwise ones, the choice of experts and the sum of their results.

import {
  allocateRouting,
  combineReference,
  elementwiseReference,
  embedReference,
  type FloatRows,
  gateReference,
  linearReference,
  matchMagnitudeReference,
  mixReference,
  normReference,
  type Operation,
  PLAN_ROW,
  quantFormats,
  quantizedRows,
  quantizeReference,
  rotateRowsReference,
  routeReference,
  SLOT_TOKEN,
  sparsifyReference,
  STEP_ROW,
} from "../../kernels/mod.ts";
import { MODELS } from "./shapes.ts";
import {
  type BoundCase,
  counted,
  FLOAT_TOLERANCE,
  type KernelCase,
  oneSequence,
  plainly,
  randomFloats,
  ROWS,
  some,
  type Workbench,
} from "./workbench.ts";

/** Rows that are compared with the reference. */
const CHECKED_ROWS = 3;

/** Number of vectors of a row that are mixed, as in Gemma 3n. */
const VECTORS = 4;

const EPSILON = 1e-6;

const GROUP = 32;

/** An operation that reads and writes rows, and one row of it by its reference. */
interface RowOperation {
  operation: Operation;
  /** The rows that it writes. */
  y: FloatRows;
  /** Computes y from what the operation writes, if that cannot be compared itself. */
  after?: Operation;
  /** The content of the rows before. */
  before?: Float32Array<ArrayBuffer>;
  expected(row: number): ArrayLike<number>;
}

/** All of these, by model and rows. */
export function rowCases(): KernelCase[] {
  const cases: KernelCase[] = [];
  for (
    const [model, { width, heads, headDim, inner, vocabulary, experts }] of Object.entries(MODELS)
  ) {
    for (const rows of ROWS) {
      const add = (
        name: string,
        size: string,
        make: (bench: Workbench, rows: number) => RowOperation,
      ) =>
        cases.push({
          words: [name, model, size, counted(rows, "rows")],
          bind: (bench) => bound(bench, rows, make(bench, rows)),
        });
      add("norm", `${width}`, (bench) => norm(bench, rows, width));
      add("quantize", `${width}`, (bench) => quantize(bench, rows, width));
      add("activate", `${inner}`, (bench) => activate(bench, rows, inner));
      add("add", `${width}`, (bench) => elementwise(bench, rows, width));
      if (headDim === 64) add("rotateRows", `${heads}x64`, (bench) => rotate(bench, rows, heads));
      add("embed", `${vocabulary}x${width}`, (bench) => embed(bench, rows, vocabulary, width));
      add("mix", `${VECTORS}x${width}`, (bench) => mix(bench, rows, width));
      add("match", `${width}`, (bench) => matchMagnitude(bench, rows, width));
      add("sparsify", `${inner}`, (bench) => sparsify(bench, rows, inner));
      if (!experts) continue;
      const { count, topK } = experts;
      add("route", `${topK}/${count}`, (bench) => route(bench, rows, count, topK));
      add("combine", `${topK}x${width}`, (bench) => combine(bench, rows, topK, width));
    }
  }
  return cases;
}

function bound(
  bench: Workbench,
  rows: number,
  { operation, after, y, before, expected }: RowOperation,
): BoundCase {
  return {
    variants: plainly(operation, rows),
    counts: oneSequence(rows),
    reset: () => before ? bench.write(y, before) : bench.spoil(y, rows),
    async compare() {
      const picked = some(rows, CHECKED_ROWS);
      if (after) bench.run((pass) => after.encode(pass, rows));
      const actual = await bench.read(y, picked);
      const all = picked.flatMap((row) => Array.from(expected(row)));
      return { actual, expected: all, tolerance: FLOAT_TOLERANCE };
    },
  };
}

/** A row of values, [rows, columns]. */
function rowOf(values: Float32Array<ArrayBuffer>, row: number, columns: number) {
  return values.slice(row * columns, (row + 1) * columns);
}

function norm(bench: Workbench, rows: number, columns: number): RowOperation {
  const values = randomFloats(rows * columns, 1);
  const weight = randomFloats(columns, 2);
  const y = bench.rows(rows, columns);
  const kind = { kind: "rms", epsilon: EPSILON } as const;
  const x = bench.rows(rows, columns, values);
  const operation = bench.device.norm(x, y, { ...kind, weight: bench.upload(weight) });
  const expected = (row: number) =>
    normReference(rowOf(values, row, columns), columns, { ...kind, weight });
  return { operation, y, expected };
}

/** Each device has a layout of its own for codes, so they are checked by a product. */
function quantize(bench: Workbench, rows: number, columns: number): RowOperation {
  const { device } = bench;
  const format = quantFormats.find(({ name }) => name === "Q8_0")!;
  const values = randomFloats(rows * columns, 1);
  const codes = quantizedRows(device, "bench", rows, columns);
  const quantizes = device.quantize(bench.rows(rows, columns, values), codes);
  const outputs = GROUP;
  const blocks = outputs * columns / GROUP;
  const bytes = new Uint8Array(blocks * format.blockBytes);
  for (let i = 0; i < bytes.length; i++) bytes[i] = i * 73;
  const scales = new DataView(bytes.buffer);
  for (let block = 0; block < blocks; block++) {
    scales.setUint16(block * format.blockBytes, 0x2000, true); // 2^-7
  }
  const matrix = device.matrix("bench", format, { rows: outputs, columns });
  const writer = device.matrixWriter(matrix);
  writer.append(bytes);
  writer.finish();
  const y = bench.rows(rows, outputs);
  const weights = format.dequantize(bytes, blocks);
  return {
    operation: quantizes,
    after: device.linear(matrix, codes, y),
    y,
    expected(row) {
      const x = rowOf(values, row, columns);
      for (let group = 0; group < columns; group += GROUP) {
        const { codes, scale } = quantizeReference(x.subarray(group, group + GROUP));
        codes.forEach((code, i) => x[group + i] = code * scale);
      }
      return linearReference(weights, x, { rows: outputs, columns, tokens: 1 });
    },
  };
}

function activate(bench: Workbench, rows: number, columns: number): RowOperation {
  const values = randomFloats(rows * 2 * columns, 1);
  const x = bench.rows(rows, 2 * columns, values);
  const y = bench.rows(rows, columns);
  const operation = bench.device.activate(x, y, { activation: "silu", gated: true });
  const expected = (row: number) => {
    const both = rowOf(values, row, 2 * columns);
    return both.slice(0, columns).map((gate, i) => gateReference("silu", gate, both[columns + i]!));
  };
  return { operation, y, expected };
}

function elementwise(bench: Workbench, rows: number, columns: number): RowOperation {
  const [before, values] = [1, 2].map((seed) => randomFloats(rows * columns, seed));
  const y = bench.rows(rows, columns);
  const x = { rows: bench.rows(rows, columns, values!) };
  const operation = bench.device.elementwise("add", { rows: y }, { x, factor: 0.5 });
  const expected = (row: number) => {
    const other = rowOf(values!, row, columns);
    return rowOf(before!, row, columns)
      .map((value, i) => elementwiseReference("add", value, other[i]!, 0.5));
  };
  return { operation, y, before: before!, expected };
}

function embed(
  bench: Workbench,
  rows: number,
  vocabulary: number,
  columns: number,
): RowOperation {
  const { device } = bench;
  const format = quantFormats.find(({ name }) => name === "F16")!;
  const pattern = Float16Array.from(randomFloats(columns + 64, 1));
  const rowFrom = (token: number) => pattern.subarray(token % 64, token % 64 + columns);
  const table = device.matrix("bench", format, { rows: vocabulary, columns });
  const writer = device.matrixWriter(table);
  const piece = new Float16Array(64 * columns);
  for (let row = 0; row < 64; row++) piece.set(rowFrom(row), row * columns);
  for (let first = 0; first < vocabulary; first += 64) {
    const count = Math.min(64, vocabulary - first);
    writer.append(new Uint8Array(piece.buffer, 0, count * columns * 2).slice());
  }
  writer.finish();
  const tokens = Uint32Array.from({ length: rows }, (_, row) => row * 7919 % vocabulary);
  const words = (count: number) => bench.upload(new Uint32Array(count));
  const resolved = Array.from(tokens, (token, row) => {
    return { token, position: row, slot: 0, time: row, height: row, width: row };
  });
  const step = {
    plan: words(PLAN_ROW.words * rows),
    slots: words(SLOT_TOKEN.words),
    rows: bench.upload(STEP_ROW.pack(resolved)),
    history: words(rows),
    context: rows,
  };
  const y = bench.rows(rows, columns);
  const operation = device.embed(table, step, y, { by: "token" });
  const expected = (row: number) =>
    embedReference(Float32Array.from(rowFrom(tokens[row]!)), Uint32Array.of(0), columns);
  return { operation, y, expected };
}

/** Heads of 64 that are rotated by angles of each row, as in encoders of images. */
function rotate(bench: Workbench, rows: number, heads: number): RowOperation {
  const headDim = 64;
  const columns = heads * headDim;
  const before = randomFloats(rows * columns, 1);
  const angles = randomFloats(rows * headDim / 2, 2);
  const turns = Float32Array.from(
    { length: rows * headDim },
    (_, i) => (i % 2 === 0 ? Math.cos : Math.sin)(angles[Math.floor(i / 2)]!),
  );
  const y = bench.rows(rows, columns);
  const options = { heads, headDim, distance: headDim / 2 };
  const operation = bench.device.rotateRows(y, bench.upload(turns), options);
  const expected = (row: number) => {
    const own = rowOf(turns, row, headDim);
    const values = rowOf(before, row, columns);
    return Array.from({ length: heads }, (_, head) => rowOf(values, head, headDim))
      .flatMap((head) => [...rotateRowsReference(head, own, options.distance)]);
  };
  return { operation, y, before, expected };
}

function mix(bench: Workbench, rows: number, columns: number): RowOperation {
  const before = randomFloats(rows * VECTORS * columns, 1);
  const values = randomFloats(rows * VECTORS * columns, 2);
  const weights = randomFloats(rows * VECTORS ** 2, 3);
  const y = bench.rows(rows, VECTORS * columns);
  const vectors = (rows: FloatRows) => ({ rows, columns, step: columns });
  const operation = bench.device.mix(
    bench.rows(rows, VECTORS ** 2, weights),
    vectors(bench.rows(rows, VECTORS * columns, values)),
    vectors(y),
    { inputs: VECTORS, outputs: VECTORS },
  );
  const expected = (row: number) => {
    const own = rowOf(before, row, VECTORS * columns);
    const added = mixReference(
      rowOf(weights, row, VECTORS ** 2),
      rowOf(values, row, VECTORS * columns),
      { inputs: VECTORS, outputs: VECTORS },
    );
    return own.map((value, i) => value + added[i]!);
  };
  return { operation, y, before, expected };
}

function matchMagnitude(bench: Workbench, rows: number, columns: number): RowOperation {
  const [before, values] = [1, 2].map((seed) => randomFloats(rows * columns, seed));
  const y = bench.rows(rows, columns);
  const reference = { rows: bench.rows(rows, columns, values!) };
  const operation = bench.device.matchMagnitude({ rows: y }, reference);
  const expected = (row: number) =>
    matchMagnitudeReference(rowOf(before!, row, columns), rowOf(values!, row, columns));
  return { operation, y, before: before!, expected };
}

function sparsify(bench: Workbench, rows: number, columns: number): RowOperation {
  const before = randomFloats(rows * columns, 1);
  const y = bench.rows(rows, columns);
  const operation = bench.device.sparsify(y, 0.5);
  const expected = (row: number) => sparsifyReference(rowOf(before, row, columns), 0.5);
  return { operation, y, before, expected };
}

function route(bench: Workbench, rows: number, experts: number, topK: number): RowOperation {
  const values = randomFloats(rows * experts, 1);
  const routing = allocateRouting(bench.device, rows, { experts, topK });
  const options = { gating: "softmax", normalize: true } as const;
  const operation = bench.device.route(bench.rows(rows, experts, values), routing, options);
  const y = { columns: topK, stride: topK, floats: routing.weights };
  const expected = (row: number) =>
    routeReference(rowOf(values, row, experts), topK, options).weights;
  return { operation, y, expected };
}

function combine(bench: Workbench, rows: number, topK: number, columns: number): RowOperation {
  const values = randomFloats(rows * topK * columns, 1);
  const weights = randomFloats(rows * topK, 2);
  const routing = allocateRouting(bench.device, rows, { experts: topK, topK });
  bench.device.write(routing.weights, 0, weights);
  const y = bench.rows(rows, columns);
  const x = bench.rows(rows * topK, columns, values);
  const operation = bench.device.combine(routing, x, y);
  const expected = (row: number) =>
    combineReference(
      rowOf(values, row, topK * columns),
      rowOf(weights, row, topK),
      { topK, columns },
    );
  return { operation, y, expected };
}
