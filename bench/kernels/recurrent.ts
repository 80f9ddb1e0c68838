// Operations of recurrent layers over one sequence: Mamba's and Mamba 2's convolution and scan, the gated
// delta rule and gated norm of Qwen3-Next. A sequence begins with the rows that are measured.

import {
  causalConvolutionReference,
  convolutionStateBytes,
  deltaStateBytes,
  type FloatRows,
  gatedDeltaReference,
  gatedNormReference,
  type Operation,
  scanStateBytes,
  selectiveScanReference,
  STEP_ROW,
  STEP_SEGMENT,
  type StepSegments,
} from "../../kernels/mod.ts";
import {
  type BoundCase,
  counted,
  FLOAT_TOLERANCE,
  type KernelCase,
  oneSequence,
  plainly,
  randomFloats,
  ROWS,
  type Workbench,
} from "./workbench.ts";

const EPSILON = 1e-6;

/** Rows that an output of a convolution is made of. */
const WIDTH = 4;

/** Mamba 370M and Mamba 2 370M: channels, heads, groups and states. */
const SCANS = {
  "mamba": { channels: 2048, heads: 2048, groups: 1, states: 16 },
  "mamba2": { channels: 2048, heads: 32, groups: 1, states: 128 },
};

/** Qwen3-Next 80B-A3B. */
const DELTA = { heads: 32, keyHeads: 16, dim: 128 };

/** The parts of a case: its operation, with counts, and all of y. */
interface Recurrent {
  operation: Operation;
  counts: number[];
  y: FloatRows;
  expected(): Float32Array;
}

/** All of these, by model and rows. */
export function recurrentCases(): KernelCase[] {
  return ROWS.flatMap((rows) => {
    const make = (
      words: string[],
      bind: (bench: Workbench, step: StepSegments) => Recurrent,
    ): KernelCase => ({
      words: [...words, counted(rows, "rows")],
      bind: (bench) => bound(bench, rows, bind(bench, stepOf(bench, rows))),
    });
    const scans = Object.entries(SCANS).map(([model, shape]) =>
      make(["scan", model, `${shape.channels}x${shape.states}`], (bench, step) => {
        return scan(bench, step, rows, shape);
      })
    );
    const { heads, dim } = DELTA;
    const { channels } = SCANS.mamba;
    return [
      ...scans,
      make(["convolution", "mamba", `${channels}x${WIDTH}`], (bench, step) => {
        return convolution(bench, step, rows, channels);
      }),
      make(["delta", "qwen3-next", `${heads}x${dim}`], (bench, step) => delta(bench, step, rows)),
      make(["gated-norm", "qwen3-next", `${heads}x${dim}`], (bench) => gatedNorm(bench, rows)),
    ];
  });
}

function bound(bench: Workbench, rows: number, recurrent: Recurrent): BoundCase {
  const { operation, counts, y, expected } = recurrent;
  return {
    variants: plainly(operation, ...counts),
    counts: oneSequence(rows),
    reset: () => bench.spoil(y, rows),
    async compare() {
      const actual = await bench.read(y, Array.from({ length: rows }, (_, row) => row));
      return { actual, expected: expected(), tolerance: FLOAT_TOLERANCE };
    },
  };
}

/** Rows 0, 1, ... of slot 0. Its earlier state does not matter. */
function stepOf(bench: Workbench, rows: number): StepSegments {
  const places = Array.from({ length: rows }, (_, row) => ({
    ...{ token: 0, slot: 0 },
    position: row,
    ...{ time: row, height: row, width: row },
  }));
  return {
    rows: bench.upload(STEP_ROW.pack(places)),
    segments: bench.upload(STEP_SEGMENT.pack([{ firstRow: 0, rows }])),
  };
}

function scan(
  bench: Workbench,
  step: StepSegments,
  rows: number,
  shape: typeof SCANS["mamba"],
): Recurrent {
  const { channels, heads, groups, states } = shape;
  const shared = groups * states;
  const values = {
    x: randomFloats(rows * channels, 1),
    dt: randomFloats(rows * heads, 2),
    bc: randomFloats(rows * 2 * shared, 3), // b and c are in the same rows
  };
  const scalarDecay = heads < channels;
  const weights = {
    a: randomFloats(scalarDecay ? heads : channels * states, 5).map((value) => -Math.abs(value)),
    d: randomFloats(heads, 6),
    bias: randomFloats(heads, 7).map((value) => value - 2),
  };
  const range = (name: keyof typeof values) => ({
    rows: bench.rows(rows, values[name].length / rows, values[name]),
    first: 0,
  });
  const b = range("bc");
  const y = bench.rows(rows, channels);
  const operation = bench.device.scan(
    { x: range("x"), dt: range("dt"), b, c: { ...b, first: shared } },
    y,
    step,
    bench.device.buffer("state", scanStateBytes(shape, 1), "bench"),
    {
      a: bench.upload(weights.a),
      d: bench.upload(weights.d),
      bias: bench.upload(weights.bias),
      scalarDecay,
    },
    shape,
  );
  const { x, dt, bc } = values;
  const expected = () =>
    selectiveScanReference(
      { x, dt, b: columnsOf(bc, rows, 0, shared), c: columnsOf(bc, rows, shared, shared) },
      weights,
      shape,
    );
  return { operation, counts: [1], y, expected };
}

/** Some columns of each row. */
function columnsOf(values: Float32Array, rows: number, first: number, count: number): Float32Array {
  const width = values.length / rows;
  const own = new Float32Array(rows * count);
  for (let row = 0; row < rows; row++) {
    const at = row * width + first;
    own.set(values.subarray(at, at + count), row * count);
  }
  return own;
}

function convolution(
  bench: Workbench,
  step: StepSegments,
  rows: number,
  channels: number,
): Recurrent {
  const values = randomFloats(rows * channels, 1);
  const [weight, bias] = [randomFloats(channels * WIDTH, 2), randomFloats(channels, 3)];
  const y = bench.rows(rows, channels);
  const operation = bench.device.convolution(
    { rows: bench.rows(rows, channels, values), first: 0 },
    y,
    step,
    bench.device.buffer("state", convolutionStateBytes(channels, WIDTH, 1), "bench"),
    { width: WIDTH, weight: bench.upload(weight), bias: bench.upload(bias), silu: true },
  );
  const options = { width: WIDTH, bias, silu: true };
  return {
    operation,
    counts: [1, rows],
    y,
    expected: () => causalConvolutionReference(values, weight, options),
  };
}

function delta(bench: Workbench, step: StepSegments, rows: number): Recurrent {
  const { heads, keyHeads, dim } = DELTA;
  const [keys, columns] = [keyHeads * dim, heads * dim];
  const width = 2 * keys + columns;
  const qkv = randomFloats(rows * width, 1);
  const gates = { alpha: randomFloats(rows * heads, 2), beta: randomFloats(rows * heads, 3) };
  const a = randomFloats(heads, 4).map((value) => -Math.abs(value) / 4);
  const bias = randomFloats(heads, 5);
  const y = bench.rows(rows, columns);
  const range = (values: Float32Array<ArrayBuffer>) => ({
    rows: bench.rows(rows, heads, values),
    first: 0,
  });
  const operation = bench.device.deltaRule(
    {
      qkv: { rows: bench.rows(rows, width, qkv), q: 0, k: keys, v: 2 * keys },
      alpha: range(gates.alpha),
      beta: range(gates.beta),
    },
    y,
    step,
    bench.device.buffer("state", deltaStateBytes(DELTA, 1), "bench"),
    { a: bench.upload(a), bias: bench.upload(bias), vectorGate: false, epsilon: EPSILON },
    DELTA,
  );
  const part = (first: number, count: number) => columnsOf(qkv, rows, first, count);
  const expected = () =>
    gatedDeltaReference(
      { q: part(0, keys), k: part(keys, keys), v: part(2 * keys, columns), ...gates },
      { a, bias, epsilon: EPSILON },
      DELTA,
    );
  return { operation, counts: [1], y, expected };
}

function gatedNorm(bench: Workbench, rows: number): Recurrent {
  const { heads, dim } = DELTA;
  const columns = heads * dim;
  const [values, gates] = [1, 2].map((seed) => randomFloats(rows * columns, seed));
  const weight = randomFloats(dim, 3);
  const y = bench.rows(rows, columns);
  const range = (own: Float32Array<ArrayBuffer>) => ({
    rows: bench.rows(rows, columns, own),
    first: 0,
  });
  const gate = { activation: "silu" } as const;
  const operation = bench.device.gatedNorm(range(values!), y, {
    groups: heads,
    weight: bench.upload(weight),
    sharedWeight: true,
    epsilon: EPSILON,
    gate: { ...gate, z: range(gates!) },
  });
  const expected = () => gatedNormReference(values!, dim, weight, EPSILON, { ...gate, z: gates! });
  return { operation, counts: [rows], y, expected };
}
