// Checks whether a device computes correctly: one small matrix product like those of decoding, int8
// weights by int8 activations, compared with the CPU. All values are whole numbers, which int8
// represents exactly. A driver that fails this fails every model; one that passes may still fail a
// larger kernel.

import type { Device } from "./device.ts";
import { floatRows, GROUP, quantizedRows } from "./ops/activation.ts";
import { linearReference } from "./ops/matrix.ts";
import { quantFormats } from "./quants/mod.ts";

/** A small product on the device, compared with the CPU's. */
export interface ProductCheck {
  values: number;
  /** Number of wrong values. */
  wrong: number;
  /** Milliseconds from the first compilation to the result. */
  milliseconds: number;
}

const ROWS = 64;

const COLUMNS = 256;

/**
 * Tolerance relative to the sum of magnitudes. The scale of a group is a quotient, which may be off
 * by 2.5 units in the last place.
 */
const TOLERANCE = 1e-5;

/** Runs the product. Errors: GpuError or DeviceLostError if the driver refuses it. */
export async function checkProduct(device: Device): Promise<ProductCheck> {
  const started = performance.now();
  const { x, weights, blocks } = makeOperands();
  const result = await device.scoped("run a product", () => multiply(device, x, blocks));
  const shape = { rows: ROWS, columns: COLUMNS, tokens: 1 };
  const expected = linearReference(weights, x, shape);
  const magnitudes = linearReference(weights.map(Math.abs), x.map(Math.abs), shape);
  // NaN is never right: comparisons with it are false.
  const isRight = (value: number, i: number) =>
    Math.abs(value - expected[i]) <= TOLERANCE * magnitudes[i];
  const wrong = result.filter((value, i) => !isRight(value, i)).length;
  return { values: ROWS, wrong, milliseconds: performance.now() - started };
}

async function multiply(device: Device, x: Float32Array, blocks: Uint8Array) {
  const matrix = device.matrix("check", q8(), { rows: ROWS, columns: COLUMNS });
  const writer = device.matrixWriter(matrix);
  writer.append(blocks);
  writer.finish();
  const floats = floatRows(device, "check x", 1, COLUMNS);
  device.write(floats.floats, 0, x);
  const groups = quantizedRows(device, "check groups", 1, COLUMNS);
  const y = floatRows(device, "check y", 1, ROWS);
  const readback = device.readback("check result", ROWS * 4);
  const operations = [device.quantize(floats, groups), device.linear(matrix, groups, y)];

  const recorder = device.record();
  recorder.pass((pass) => operations.forEach((operation) => operation.encode(pass, 1)));
  recorder.copy(y.floats, 0, readback.buffer, 0, ROWS * 4);
  device.submit(recorder.finish());
  return new Float32Array(await readback.read(ROWS * 4));
}

/** Activations whose peak in each group is 127, and weights from -64 to 64 with a scale of 1. */
function makeOperands(): { x: Float32Array; weights: Float32Array; blocks: Uint8Array } {
  const x = Float32Array.from(
    { length: COLUMNS },
    (_, i) => i % GROUP === 0 ? -127 : (37 * i) % 127,
  );
  const format = q8();
  const count = ROWS * COLUMNS / format.blockSize;
  const blocks = new Uint8Array(count * format.blockBytes);
  const view = new DataView(blocks.buffer);
  for (let block = 0; block < count; block++) {
    const start = block * format.blockBytes;
    view.setFloat16(start, 1, true);
    for (let i = 0; i < format.blockSize; i++) {
      view.setInt8(start + 2 + i, (53 * (block * format.blockSize + i) + 11 * block) % 129 - 64);
    }
  }
  return { x, weights: format.dequantize(blocks, count), blocks };
}

function q8() {
  return quantFormats.find(({ name }) => name === "Q8_0")!;
}
