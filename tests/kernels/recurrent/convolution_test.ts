// The causal convolution against its reference, however the rows are shared out over steps: with
// bias and silu as in Mamba, and between two gates as in LFM2.

import {
  causalConvolutionReference,
  convolutionStateBytes,
  type Device,
} from "../../../kernels/mod.ts";
import { deviceTest, upload } from "../../gpu.ts";
import { randomFloats } from "../../numbers.ts";
import { ULP } from "../close.ts";
import { assertSteps, columnsOf, randomSequences, type Sequence, SLOTS } from "./steps.ts";

const CHANNELS = 70;

async function assertConvolution(device: Device, kind: "mamba" | "gated") {
  const gated = kind === "gated";
  const width = gated ? 3 : 4;
  const weight = randomFloats(CHANNELS * width, 91);
  const options = gated ? { width } : { width, bias: randomFloats(CHANNELS, 92), silu: true };
  // Three ranges of x's columns and a few of something else.
  const columns = 3 * CHANNELS + 5;
  const sequences = randomSequences({ x: [columns, 1] });
  const ranges = ({ x }: Sequence) =>
    [0, 1, 2].map((i) => columnsOf(x, columns, 5 + i * CHANNELS, 5 + (i + 1) * CHANNELS));
  /** What is expected, or the sum of the magnitudes of its terms. */
  const reference = (sequence: Sequence, magnitude: boolean) => {
    const terms = (values: Float32Array) => magnitude ? values.map(Math.abs) : values;
    const [input, gate, output] = ranges(sequence).map(terms);
    const y = causalConvolutionReference(
      gated ? input.map((value, i) => value * gate[i]) : input,
      terms(weight),
      {
        width,
        ...(options.bias ? { bias: terms(options.bias) } : {}),
        silu: Boolean(options.silu) && !magnitude,
      },
    );
    return gated ? y.map((value, i) => value * output[i]) : y;
  };
  const magnitudes = sequences.map((sequence) => reference(sequence, true));
  await assertSteps(device, sequences, {
    columns: CHANNELS,
    stateBytes: convolutionStateBytes(CHANNELS, width, SLOTS),
    bind: ({ x }, y, step, state) => {
      const convolution = device.convolution({ rows: x, first: 5 }, y, step, state, {
        width,
        weight: upload(device, weight),
        ...(options.bias ? { bias: upload(device, options.bias) } : {}),
        silu: Boolean(options.silu),
        ...(gated ? { gates: { input: 5 + CHANNELS, output: 5 + 2 * CHANNELS } } : {}),
      });
      // As if segments were as long as it takes to share them out row by row.
      return {
        encode: (pass, segments, longest) => convolution.encode(pass, segments, 32 * longest),
      };
    },
    expected: sequences.map((sequence) => reference(sequence, false)),
    // Five terms of two or three factors, silu with exp's 3 + 2|x| ULP; its slope is at most 1.1.
    tolerance: (sequence) => (i) => {
      const magnitude = magnitudes[sequence][i];
      return (16 + 2 * magnitude) * ULP * magnitude;
    },
  });
}

deviceTest("CausalConvolution with bias and silu matches the reference in any chunks", (device) => {
  return assertConvolution(device, "mamba");
});

deviceTest("CausalConvolution between gates matches the reference in any chunks", (device) => {
  return assertConvolution(device, "gated");
});
