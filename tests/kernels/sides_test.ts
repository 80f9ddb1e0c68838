// The sides of a paired matrix as matrices of their own: their products and a gate are the paired product.

import { type Device, type FloatRows, floatRows, GROUP, padTo } from "../../kernels/mod.ts";
import { deviceTest, readFloats, submit } from "../gpu.ts";
import { randomFloats } from "../numbers.ts";
import { assertRows, outputRows, ULP, uploadRows } from "./close.ts";
import { formatNamed } from "./weights.ts";

const [ROWS, COLUMNS, TOKENS] = [64, 96, 3];

/** A pair of random weights, whose rows have scales and biases. */
function pairOn(device: Device, format: string, rows: number) {
  const own = formatNamed(format);
  const matrix = device.matrix("w", own, { rows, columns: COLUMNS, sides: 2 });
  for (const side of [0, 1] as const) {
    const floats = randomFloats(rows * COLUMNS, 3 + side);
    const writer = device.matrixWriter(matrix, side);
    writer.append(
      format === "F32"
        ? new Uint8Array(floats.buffer)
        : new Uint8Array(Float16Array.from(floats).buffer),
    );
    writer.finish();
  }
  const [scale, bias] = [randomFloats(2 * rows, 8), randomFloats(2 * rows, 9)];
  device.setAffine(matrix, { scale, bias });
  return matrix;
}

async function assertSides(device: Device, format: string, rows: number): Promise<void> {
  const matrix = pairOn(device, format, rows);
  const x = uploadRows(device, randomFloats(TOKENS * COLUMNS, 1), COLUMNS);
  const [paired, apart] = [0, 1].map(() => outputRows(device, TOKENS, rows, false) as FloatRows);
  const both = floatRows(device, "both", TOKENS, 2 * padTo(rows, GROUP)); // zeros between the sides
  submit(device, (pass) => {
    device.linear(matrix, x, paired!, { activation: "silu" }).encode(pass, TOKENS);
    device.stackedLinear(device.sidesOf(matrix), x, both).encode(pass, TOKENS);
    device.activate(both, apart!, { activation: "silu", gated: true }).encode(pass, TOKENS);
  });
  const all = await readFloats(device, paired!.floats, TOKENS * paired!.stride);
  const expected = Float32Array.from(
    { length: TOKENS * rows },
    (_, i) => all[Math.floor(i / rows) * paired!.stride + i % rows]!,
  );
  await assertRows(
    device,
    apart!,
    expected,
    (i) => 1e3 * ULP * Math.max(1, Math.abs(expected[i]!)),
  );
}

deviceTest("the sides of a pair and their gate give what the pair gives", async (device) => {
  for (const format of ["F32", "F16"]) await assertSides(device, format, ROWS);
  // Sides that do not begin on whole groups are taken apart on the CPU alone.
  if (device.canPair(formatNamed("F32"), 45, COLUMNS, true)) await assertSides(device, "F32", 45);
});
