// SwiGLU of separate gate and up projections against its reference, both outputs, gates far beyond
// where exp() overflows.

import { type Device, padTo, SwiGlu, swigluReference } from "../../kernels/mod.ts";
import { gpuTest, randomFloats, submit } from "../gpu.ts";
import { assertRows, outputRows, ULP, uploadRows } from "./close.ts";

async function assertSwiGlu(device: Device, columns: number, quantized: boolean) {
  const rows = 3;
  const gate = randomFloats(rows * columns, 1).map((value) => value * 4);
  const up = randomFloats(rows * columns, 2);
  gate.set([120, -120, 0].slice(0, columns)); // exp(120) is infinite in f32
  const y = outputRows(device, rows, columns, quantized);
  const stride = padTo(columns, 32);
  const pairs = new Float32Array(rows * 2 * stride); // [rows, 2, stride]
  for (let row = 0; row < rows; row++) {
    const [from, to] = [row * columns, (row + 1) * columns];
    pairs.set(gate.subarray(from, to), 2 * row * stride);
    pairs.set(up.subarray(from, to), (2 * row + 1) * stride);
  }
  const x = uploadRows(device, pairs, 2 * stride);
  submit(device, (pass) => new SwiGlu(device, x, y).encode(pass, rows));
  const expected = swigluReference(gate, up);
  // exp(-gate) has 3 + 2|gate| ULP; the sum, the quotient and the product add less than 5. A gate
  // below -88 may become zero: there silu is below 1e-36.
  await assertRows(
    device,
    y,
    expected,
    (i) => (8 + 2 * Math.abs(gate[i])) * ULP * Math.abs(expected[i]) + 1e-36 * Math.abs(up[i]),
  );
}

for (const quantized of [false, true]) {
  const output = quantized ? "writes int8 groups" : "matches the reference";
  gpuTest(`SwiGlu ${output} for 1, 33 and 1100 columns`, async (device) => {
    for (const columns of [1, 33, 1100]) await assertSwiGlu(device, columns, quantized);
  });
}
