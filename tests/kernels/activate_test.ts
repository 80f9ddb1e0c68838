// Activation functions by themselves and of separate gate and up projections against their
// references, both outputs, inputs far beyond where exp() overflows.

import {
  activateReference,
  type ActivationFunction,
  type Device,
  gateReference,
  padTo,
} from "../../kernels/mod.ts";
import { deviceTest, submit } from "../gpu.ts";
import { randomFloats } from "../numbers.ts";
import { assertRows, outputRows, ULP, uploadRows } from "./close.ts";

interface Case {
  activation: ActivationFunction;
  gated: boolean;
  quantized: boolean;
}

async function assertActivate(device: Device, columns: number, options: Case) {
  const { activation, gated, quantized } = options;
  const rows = 3;
  const gate = randomFloats(rows * columns, 1).map((value) => value * 4);
  const up = gated ? randomFloats(rows * columns, 2).map((value) => value * 5) : gate;
  gate.set([120, -120, 0].slice(0, columns)); // exp(120) is infinite in f32
  // What is damaged has to be seen behind it. A group of int8 is so as a whole.
  if (!quantized && columns > 4) [gate[3], up[4]] = [NaN, NaN];
  const y = outputRows(device, rows, columns, quantized);
  const stride = padTo(columns, 32);
  const sides = gated ? 2 : 1;
  const halves = new Float32Array(rows * sides * stride); // [rows, sides, stride]
  for (let row = 0; row < rows; row++) {
    const [from, to] = [row * columns, (row + 1) * columns];
    halves.set(gate.subarray(from, to), sides * row * stride);
    if (gated) halves.set(up.subarray(from, to), (2 * row + 1) * stride);
  }
  const x = uploadRows(device, halves, sides * stride);
  submit(device, (pass) => device.activate(x, y, { activation, gated }).encode(pass, rows));
  const expected = gate.map((value, i) =>
    gated ? gateReference(activation, value, up[i]) : activateReference(activation, value)
  );
  // The argument of exp() is at most 2|gate|, or 1.6|gate + 0.045 gate^3| for GELU, off by some
  // ULP of itself; exp() has 3 ULP more and what its argument has; the sum, the quotient and the
  // product add less than 6. Below -88 a result may become zero: there it is below 1e-36. The error
  // function is approximated to 1.5e-7, and its exp() takes a square.
  const isExact = activation === "gelu_erf";
  const argument = (x: number) =>
    activation === "gelu"
      ? 1.6 * Math.abs(x + 0.045 * x ** 3)
      : isExact
      ? x ** 2 / 2
      : 2 * Math.abs(x);
  await assertRows(
    device,
    y,
    expected,
    (i) =>
      (9 + 4 * argument(gate[i])) * ULP * Math.abs(expected[i]) + 1e-36 * (1 + Math.abs(up[i])) +
      (isExact ? 2e-7 * Math.abs(gate[i] * (gated ? up[i] : 1)) : 0),
  );
}

const FUNCTIONS = [
  ...["silu", "gelu", "gelu_erf", "quick_gelu", "relu", "relu_squared", "clamped_swish"] as const,
];

for (const activation of FUNCTIONS) {
  deviceTest(`Activate with ${activation} matches the reference, gated and not`, async (device) => {
    for (const gated of [false, true]) {
      for (const columns of [1, 33, 1100]) {
        await assertActivate(device, columns, { activation, gated, quantized: false });
      }
    }
  });
}

deviceTest("Activate writes int8 groups", async (device) => {
  for (const columns of [1, 33, 1100]) {
    await assertActivate(device, columns, { activation: "silu", gated: true, quantized: true });
  }
});
