// The gated delta rule against its reference, however the rows are shared out over steps: gates for
// heads and for keys, both orders of heads.

import {
  type DeltaShape,
  deltaStateBytes,
  type Device,
  gatedDeltaReference,
} from "../../../kernels/mod.ts";
import { deviceTest, upload } from "../../gpu.ts";
import { randomFloats } from "../../numbers.ts";
import { ULP } from "../close.ts";
import {
  assertSteps,
  columnsOf,
  randomSequences,
  type Sequence,
  SEQUENCES,
  SLOTS,
} from "./steps.ts";

const EPSILON = 1e-6;

interface Case extends DeltaShape {
  vectorGate: boolean;
}

async function assertDelta(device: Device, shape: Case) {
  const { heads, keyHeads, dim, vectorGate } = shape;
  const [keys, values] = [keyHeads * dim, heads * dim];
  const columns = 2 * keys + values + 8;
  const sequences = randomSequences({
    qkv: [columns, 1],
    gates: [2 * heads, 2],
    ...(vectorGate ? { alpha: [values + 3, 1] } : {}),
  });
  const a = randomFloats(heads, 81).map((value) => -Math.abs(value) / 4);
  const bias = randomFloats(vectorGate ? values : heads, 82);
  const rowsOf = ({ qkv, gates, alpha }: Sequence) => ({
    q: columnsOf(qkv, columns, 4, 4 + keys),
    k: columnsOf(qkv, columns, 4 + keys, 4 + 2 * keys),
    v: columnsOf(qkv, columns, 8 + 2 * keys, 8 + 2 * keys + values),
    beta: columnsOf(gates, 2 * heads, 0, heads),
    alpha: alpha
      ? columnsOf(alpha, values + 3, 3, values + 3)
      : columnsOf(gates, 2 * heads, heads, 2 * heads),
  });
  await assertSteps(device, sequences, {
    columns: values,
    stateBytes: deltaStateBytes(shape, SLOTS),
    bind: ({ qkv, gates, alpha }, y, step, state) =>
      device.deltaRule(
        {
          qkv: { rows: qkv, q: 4, k: 4 + keys, v: 8 + 2 * keys },
          beta: { rows: gates, first: 0 },
          alpha: alpha ? { rows: alpha, first: 3 } : { rows: gates, first: heads },
        },
        y,
        step,
        state,
        { a: upload(device, a), bias: upload(device, bias), vectorGate, epsilon: EPSILON },
        shape,
      ),
    expected: sequences.map((sequence) =>
      gatedDeltaReference(rowsOf(sequence), { a, bias, epsilon: EPSILON }, shape)
    ),
    // With k of length 1, beta in [0, 1] and decays in [0, 1] a row shrinks what S was wrong by, so
    // rows add up their own errors: of a dot product of S and k, and of some 40 ULP in gates and
    // scales. A row of S is at most as long as the largest v times the rows so far; y is S q, q
    // shortened by sqrt(dim).
    tolerance: (sequence) => {
      const { v } = rowsOf(sequences[sequence]);
      const largest = v.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
      const rows = SEQUENCES[sequence].rows;
      return () => rows * (dim / 2 + 40) * ULP * largest / Math.sqrt(dim);
    },
  });
}

deviceTest("GatedDeltaRule matches the reference with neighbours sharing keys", (device) => {
  return assertDelta(device, { heads: 4, keyHeads: 2, dim: 64, vectorGate: false });
});

deviceTest("GatedDeltaRule matches the reference with keys in tiled order", (device) => {
  const shape = { heads: 4, keyHeads: 2, dim: 64, tiledHeads: true, vectorGate: false };
  return assertDelta(device, shape);
});

deviceTest("GatedDeltaRule matches the reference with a gate for every key", (device) => {
  return assertDelta(device, { heads: 2, keyHeads: 2, dim: 32, vectorGate: true });
});
