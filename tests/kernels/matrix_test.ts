// How matrices lie on the GPU: rows that arrive in odd pieces, odd numbers of blocks, sides, parts,
// and padding, each compared with the planes that repacking the whole gives.

import { assert, assertEquals } from "@std/assert";
import { GROUP, padTo, type QuantFormat } from "../../kernels/mod.ts";
import {
  allocateMatrix,
  canPair,
  type GpuMatrix,
  GpuMatrixWriter,
  WebGpuDevice,
} from "../../kernels/webgpu/mod.ts";
import { repack } from "../../kernels/quants/mod.ts";
import { gpuTest, readWords } from "../gpu.ts";
import { formatNamed, randomWeights } from "./weights.ts";
import { webGpuTest } from "../adapter.ts";

interface Case {
  rows: number;
  columns: number;
  sides?: 1 | 2;
  /** Rows in each piece that the writer gets. */
  pieces: number[];
}

/** Bytes of the rows, each padded with zeros to whole groups of 32 columns. */
function paddedRows(format: QuantFormat, source: Uint8Array, columns: number): Uint8Array {
  const from = columns / format.blockSize * format.blockBytes;
  const to = padTo(columns, GROUP) / format.blockSize * format.blockBytes;
  const padded = new Uint8Array(source.length / from * to);
  for (let row = 0; row * from < source.length; row++) {
    padded.set(source.subarray(row * from, (row + 1) * from), row * to);
  }
  return padded;
}

/** Fails unless each plane of each part holds its rows of each side, one side after the other. */
async function assertPlanes(device: WebGpuDevice, matrix: GpuMatrix, sides: Uint8Array[]) {
  const { format, columns, parts } = matrix;
  const rowBlocks = padTo(columns, GROUP) / format.blockSize;
  for (const part of parts) {
    const words = await readWords(device, part.buffer, part.buffer.size / 4);
    const bytes = new Uint8Array(words.buffer);
    const blocks = part.rows * rowBlocks;
    sides.forEach((side, s) => {
      const from = part.first * rowBlocks * format.blockBytes;
      const source = side.subarray(from, from + blocks * format.blockBytes);
      repack(format, source.slice(), blocks).forEach((plane, i) => {
        const at = part.offsets[i] + s * blocks * format.planes[i].bytesPerBlock;
        assertEquals(bytes.slice(at, at + plane.length), plane.slice(), `plane ${i} side ${s}`);
      });
    });
  }
}

async function assertWritten(device: WebGpuDevice, name: string, shape: Case): Promise<GpuMatrix> {
  const format = formatNamed(name);
  const { rows, columns, sides = 1, pieces } = shape;
  const matrix = allocateMatrix(device, "w", format, shape);
  const rowBytes = columns / format.blockSize * format.blockBytes;
  const source = randomWeights(format, sides * rows * columns / format.blockSize);
  const expected: Uint8Array[] = [];
  for (const side of [0, 1] as const) {
    if (side === sides) break;
    const bytes = source.subarray(side * rows * rowBytes, (side + 1) * rows * rowBytes);
    const writer = new GpuMatrixWriter(device, matrix, side);
    for (let at = 0, i = 0; at < bytes.length; i++) {
      const to = at + pieces[i % pieces.length] * rowBytes;
      writer.append(bytes.subarray(at, to));
      at = to;
    }
    writer.finish();
    expected.push(paddedRows(format, bytes, columns));
  }
  await assertPlanes(device, matrix, expected);
  return matrix;
}

gpuTest("GpuMatrixWriter takes rows of one block in any pieces", async (device) => {
  // A scale of Q4_0 is half a word and one of MXFP4 a quarter, so that odd pieces end within one.
  for (const pieces of [[1], [2, 1, 3], [7], [100]]) {
    await assertWritten(device, "Q4_0", { rows: 7, columns: 32, pieces });
    await assertWritten(device, "MXFP4", { rows: 7, columns: 32, pieces });
  }
  await assertWritten(device, "Q6_K", { rows: 5, columns: 256, pieces: [1, 3] });
  await assertWritten(device, "Q3_K", { rows: 5, columns: 768, pieces: [2, 1] });
});

gpuTest("GpuMatrixWriter pads float rows to whole groups", async (device) => {
  await assertWritten(device, "F16", { rows: 3, columns: 45, pieces: [1] });
  await assertWritten(device, "BF16", { rows: 3, columns: 1, pieces: [2, 1] });
  await assertWritten(device, "F32", { rows: 3, columns: 33, pieces: [3] });
});

gpuTest("GpuMatrixWriter writes the sides of a pair one after the other", async (device) => {
  assert(canPair(formatNamed("Q4_0"), 6, 96));
  await assertWritten(device, "Q4_0", { rows: 6, columns: 96, sides: 2, pieces: [1] });
  assert(canPair(formatNamed("F16"), 3, 45));
  await assertWritten(device, "F16", { rows: 3, columns: 45, sides: 2, pieces: [1] });
});

Deno.test("canPair() refuses sides that would begin within a word", () => {
  assertEquals(canPair(formatNamed("Q4_0"), 7, 96), false);
  assertEquals(canPair(formatNamed("Q4_0"), 7, 64), true);
  assertEquals(canPair(formatNamed("MXFP4"), 7, 64), false);
  assertEquals(canPair(formatNamed("MXFP4"), 6, 64), true);
});

webGpuTest("allocateMatrix() uploads a codebook once per device", async () => {
  using device = await WebGpuDevice.open();
  const shape = { rows: 1, columns: 256 };
  const [first, second] = ["IQ1_S", "IQ1_M"].map((name) =>
    allocateMatrix(device, "w", formatNamed(name), shape)
  );
  assertEquals(first.codebook, second.codebook);
  const words = formatNamed("IQ1_S").codebook!.words;
  assertEquals(await readWords(device, first.codebook!, words.length), words);
  assertEquals(allocateMatrix(device, "w", formatNamed("Q4_0"), shape).codebook, undefined);
});

webGpuTest("GpuMatrixWriter spreads rows over parts that fit a binding", async () => {
  using device = await WebGpuDevice.open({ maxBindingSize: 40 * 3 * 16 }); // 40 rows of three Q4_0 blocks
  const shape = { rows: 71, columns: 96, pieces: [50, 3] };
  const single = await assertWritten(device, "Q4_0", shape);
  assertEquals(single.parts.map(({ first, rows }) => [first, rows]), [[0, 32], [32, 32], [64, 7]]);
  const widest = Math.max(...single.parts.flatMap(({ sizes }) => sizes));
  assert(widest <= device.maxBindingSize, `a binding of ${widest} bytes`);
  await assertWritten(device, "Q4_0", { ...shape, rows: 70, sides: 2, pieces: [33, 1] });
});
