// Rows that threads read from a file themselves give the bands of rows that are appended, wherever they are in
// the file; and a file that is not the one that was meant is left to who has it open.

import { assertEquals } from "@std/assert";
import { stampOf } from "../../../host/mod.ts";
import { CpuDevice } from "../../../kernels/cpu/device.ts";
import type { WeightMatrix } from "../../../kernels/cpu/matrix.ts";
import { type FloatRows, quantFormats } from "../../../kernels/mod.ts";
import { readFloats, submit } from "../../gpu.ts";
import { randomFloats } from "../../numbers.ts";
import { outputRows, uploadRows } from "../close.ts";
import { randomWeights } from "../weights.ts";

const COLUMNS = 512;

/** A temporary file with these bytes from an offset on, and how threads find them. */
async function fileWith(bytes: Uint8Array, offset: number) {
  const path = await Deno.makeTempFile();
  using file = await Deno.open(path, { write: true });
  await file.seek(offset, Deno.SeekMode.Start);
  await file.write(bytes);
  return { path, stamp: stampOf(await Deno.stat(path)), offset };
}

/** So many bytes, the same again and again. */
function repeated(bytes: Uint8Array, length: number): Uint8Array {
  const all = new Uint8Array(length);
  for (let at = 0; at < length; at += bytes.length) {
    all.set(bytes.subarray(0, length - at), at);
  }
  return all;
}

/** The products of a matrix with three rows. */
async function productsOf(device: CpuDevice, matrix: WeightMatrix): Promise<Float32Array> {
  const x = uploadRows(device, randomFloats(3 * COLUMNS, 1), COLUMNS);
  const y = outputRows(device, 3, matrix.rows, false) as FloatRows;
  submit(device, (pass) => device.linear(matrix, x, y, {}).encode(pass, 3));
  return await readFloats(device, y.floats, 3 * y.stride);
}

for (const format of quantFormats) {
  Deno.test(`threads read rows of ${format.name} as they are appended`, async () => {
    const rowBytes = COLUMNS / format.blockSize * format.blockBytes;
    // The last band has five rows. The second piece begins where the first one ends.
    const rows = 8 * Math.ceil(2 ** 20 / rowBytes / 8) + 5;
    const first = 8 * Math.floor(rows / 16);
    const bytes = repeated(randomWeights(format, 64 * COLUMNS / format.blockSize), rows * rowBytes);
    const file = await fileWith(bytes, 5);
    try {
      for (const threads of [1, 3]) {
        using device = await CpuDevice.open({ threads });
        const [appended, read] = [0, 1].map(() =>
          device.matrix("w", format, { rows, columns: COLUMNS })
        );
        device.matrixWriter(appended!).append(bytes);
        const writer = device.matrixWriter(read!);
        const offset = file.offset + first * rowBytes;
        assertEquals(writer.read!(file, first), true);
        assertEquals(writer.read!({ ...file, offset }, rows - first), true);
        writer.finish();
        assertEquals(await productsOf(device, read!), await productsOf(device, appended!));
      }
    } finally {
      await Deno.remove(file.path);
    }
  });
}

const FORMAT = quantFormats.find(({ name }) => name === "Q8_0")!;
const ROWS = 1024;
const ROW_BYTES = COLUMNS / FORMAT.blockSize * FORMAT.blockBytes;
const BYTES = repeated(randomWeights(FORMAT, 64 * COLUMNS / FORMAT.blockSize), ROWS * ROW_BYTES);

Deno.test("experts are read one behind the other, and only whole bands of them", async () => {
  const file = await fileWith(BYTES, 0);
  using device = await CpuDevice.open({ threads: 2 });
  for (const [unit, isRead] of [[ROWS / 4, true], [ROWS / 256, false]] as const) {
    const matrix = device.matrix("w", FORMAT, { rows: ROWS, columns: COLUMNS, unit });
    assertEquals(device.matrixWriter(matrix).read!(file, ROWS), isRead);
  }
  const whole = device.matrix("w", FORMAT, { rows: ROWS, columns: COLUMNS });
  assertEquals(device.matrixWriter(whole).read!(file, ROWS - 3), false);
  const writer = device.matrixWriter(whole);
  writer.append(BYTES.subarray(0, 4 * ROW_BYTES));
  assertEquals(writer.read!(file, ROWS - 4), false, "a band has begun");
  await Deno.remove(file.path);
});

Deno.test("rows beyond 4 GiB are read, of a file that has no other bytes", async () => {
  const file = await fileWith(BYTES, 2 ** 32 + 2 ** 31 + 12);
  using device = await CpuDevice.open({ threads: 2 });
  const [appended, read] = [0, 1].map(() =>
    device.matrix("w", FORMAT, { rows: ROWS, columns: COLUMNS })
  );
  device.matrixWriter(appended!).append(BYTES);
  assertEquals(device.matrixWriter(read!).read!(file, ROWS), true);
  assertEquals(await productsOf(device, read!), await productsOf(device, appended!));
  await Deno.remove(file.path);
});

Deno.test("a file that has changed, is shorter or has gone is not read, and rows can then be appended", async () => {
  const file = await fileWith(BYTES, 0);
  const other = await fileWith(BYTES, 1);
  using device = await CpuDevice.open({ threads: 2 });
  const matrix = device.matrix("w", FORMAT, { rows: ROWS, columns: COLUMNS });
  const writer = device.matrixWriter(matrix);
  assertEquals(writer.read!({ ...file, path: other.path }, ROWS), false, "another file");
  assertEquals(writer.read!({ ...file, path: `${file.path}.gone` }, ROWS), false, "no file");
  assertEquals(writer.read!({ ...file, offset: 1 }, ROWS), false, "a byte is missing");
  writer.append(BYTES);
  writer.finish();
  const read = device.matrix("w", FORMAT, { rows: ROWS, columns: COLUMNS });
  assertEquals(device.matrixWriter(read).read!(file, ROWS), true);
  assertEquals(await productsOf(device, read), await productsOf(device, matrix));
  for (const { path } of [file, other]) await Deno.remove(path);
});
