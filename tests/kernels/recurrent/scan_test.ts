// The selective scans of Mamba and Mamba 2 against their reference, however the rows are shared out
// over steps.

import {
  type Device,
  type FloatRows,
  type ScanSequence,
  type ScanShape,
  scanStateBytes,
  selectiveScanReference,
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

async function assertScan(device: Device, shape: ScanShape, gated: boolean) {
  const { channels, heads, groups, states } = shape;
  const scalarDecay = heads < channels;
  const shared = groups * states;
  // Everything lies somewhere inside wider rows, at columns that are no multiples of four.
  const wide = { x: channels + 3, dt: heads + 5, bc: 2 * shared + 7, z: channels + 2 };
  const sequences = randomSequences({
    x: [wide.x, 1],
    dt: [wide.dt, 1],
    bc: [wide.bc, 1],
    ...(gated ? { z: [wide.z, 2] } : {}),
  });
  const weights = {
    a: randomFloats(scalarDecay ? heads : channels * states, 71).map((value) => -Math.abs(value)),
    d: randomFloats(heads, 72),
    bias: randomFloats(heads, 73).map((value) => value - 2),
  };
  const rowsOf = ({ x, dt, bc, z }: Sequence): ScanSequence => ({
    x: columnsOf(x, wide.x, 3, 3 + channels),
    dt: columnsOf(dt, wide.dt, 5, 5 + heads),
    b: columnsOf(bc, wide.bc, 3, 3 + shared),
    c: columnsOf(bc, wide.bc, 7 + shared, 7 + 2 * shared),
    ...(z ? { z: columnsOf(z, wide.z, 1, 1 + channels) } : {}),
  });
  // The sum of the terms' magnitudes before they decay, gates aside: those are the same for all.
  const magnitudes = sequences.map((sequence) => {
    const { x, dt, b, c, z } = rowsOf(sequence);
    const [absX, absB, absC, absD] = [x, b, c, weights.d].map((values) => values.map(Math.abs));
    const terms = { x: absX, dt, b: absB, c: absC, ...(z ? { z } : {}) };
    const undecayed = { ...weights, a: weights.a.map(() => 0), d: absD };
    return selectiveScanReference(terms, undecayed, shape);
  });
  await assertSteps(device, sequences, {
    columns: channels,
    stateBytes: scanStateBytes(shape, SLOTS),
    bind: (inputs, y, step, state) => {
      const range = (rows: FloatRows, first: number) => ({ rows, first });
      return device.scan(
        {
          x: range(inputs.x, 3),
          dt: range(inputs.dt, 5),
          b: range(inputs.bc, 3),
          c: range(inputs.bc, 7 + shared),
          ...(gated ? { z: range(inputs.z, 1) } : {}),
        },
        y,
        step,
        state,
        {
          a: upload(device, weights.a),
          d: upload(device, weights.d),
          bias: upload(device, weights.bias),
          scalarDecay,
        },
        shape,
      );
    },
    expected: sequences.map((sequence) => selectiveScanReference(rowsOf(sequence), weights, shape)),
    // exp(-|x|) has 3 + 2|x| ULP, |x| below 20, and softplus 8 more: a time step is off by 51 ULP
    // at most, so exp(dt * a) by 3 + 53|dt * a|. A term is the product of as many of these as there
    // are rows; where the exponents add up to E it has decayed by exp(-E), and 53 E exp(-E) < 20.
    // The step as a factor, the other factors, silu and summing the states come on top.
    tolerance: (sequence) => (i) =>
      (3 * SEQUENCES[sequence].rows + states / 2 + 110) * ULP * Math.abs(magnitudes[sequence][i]),
  });
}

deviceTest("SelectiveScan of Mamba matches the reference in any chunks", (device) => {
  return assertScan(device, { channels: 72, heads: 72, groups: 1, states: 16 }, true);
});

deviceTest("SelectiveScan of Mamba 2 matches the reference in any chunks", (device) => {
  return assertScan(device, { channels: 96, heads: 6, groups: 2, states: 64 }, false);
});
