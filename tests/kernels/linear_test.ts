// The matrix product of every weight format against plain loops, over shapes that are multiples of
// nothing, on both paths (float activations, int8 groups) and with each tile.

import { assert } from "@std/assert";
import {
  allocateMatrix,
  type Device,
  floatRows,
  isQuantized,
  Linear,
  linearReference,
  type LinearTile,
  MatrixWriter,
  type QuantFormat,
  quantFormats,
  quantizedRows,
} from "../../kernels/mod.ts";
import { Quantize } from "../../kernels/quantize.ts";
import { gpuTest, nmse, randomFloats, readFloats, submit, upload, write } from "../gpu.ts";
import { randomBlocks } from "./quants/random_blocks.ts";

interface Case {
  rows: number;
  columns: number;
  tokens: number;
  integer?: boolean;
  tile?: LinearTile;
}

/** Blocks of the format; random bytes would be NaN here and there in a float format. */
function randomWeights(format: QuantFormat, blocks: number): Uint8Array {
  if (format.kind === "integer") return randomBlocks(format, blocks, blocks);
  const words = new Uint32Array(randomFloats(blocks, blocks).buffer);
  if (format.name === "F32") return new Uint8Array(words.buffer);
  if (format.name === "BF16") {
    return new Uint8Array(Uint16Array.from(words, (w) => w >>> 16).buffer);
  }
  return new Uint8Array(Float16Array.from(new Float32Array(words.buffer)).buffer);
}

/** NMSE of the GPU's product against the reference. */
async function errorOf(device: Device, format: QuantFormat, shape: Case): Promise<number> {
  const { rows, columns, tokens, integer = false, tile } = shape;
  const blocks = rows * columns / format.blockSize;
  const source = randomWeights(format, blocks);
  const matrix = allocateMatrix(device, "w", format, { rows, columns });
  const writer = new MatrixWriter(device, matrix);
  const half = Math.floor(rows / 2) * columns / format.blockSize * format.blockBytes;
  writer.append(source.subarray(0, half)); // in two pieces, as from a file
  writer.append(source.subarray(half));
  writer.finish();

  const x = floatRows(device, "x", tokens, columns);
  const values = randomFloats(tokens * columns, 7);
  const padded = new Float32Array(tokens * x.stride);
  for (let t = 0; t < tokens; t++) {
    padded.set(values.subarray(t * columns, (t + 1) * columns), t * x.stride);
  }
  write(device, x.floats, padded);
  const input = integer ? quantizedRows(device, "xq", tokens, columns) : x;
  const y = floatRows(device, "y", tokens, rows);
  const linear = new Linear(device, matrix, input, y, tile ? { tile } : {});
  submit(device, (pass) => {
    if (isQuantized(input)) new Quantize(device, x, input).encode(pass, tokens);
    linear.encode(pass, tokens);
  });
  const actual = new Float32Array(tokens * rows);
  const result = await readFloats(device, y.floats, tokens * y.stride);
  for (let t = 0; t < tokens; t++) {
    actual.set(result.subarray(t * y.stride, t * y.stride + rows), t * rows);
  }
  const weights = format.dequantize(source, blocks);
  return nmse(actual, linearReference(weights, values, { rows, columns, tokens }));
}

for (const format of quantFormats) {
  const columns = 3 * Math.max(32, format.blockSize);
  gpuTest(
    `Linear with float activations matches the reference for ${format.name}`,
    async (device) => {
      for (const tokens of [1, 3, 13]) {
        const error = await errorOf(device, format, { rows: 37, columns, tokens });
        assert(error <= 1e-10, `${tokens} tokens: NMSE ${error}`);
      }
    },
    { dawn: false },
  );
  gpuTest(
    `Linear with float activations and one row a team matches it for ${format.name}`,
    async (device) => {
      const tile = {
        rows: 1,
        cols: 1,
        lanes: device.capabilities.subgroupSize || 4,
        workgroup: 16,
      };
      const error = await errorOf(device, format, { rows: 19, columns, tokens: 2, tile });
      assert(error <= 1e-10, `NMSE ${error}`);
    },
  );
  if (format.kind === "float") continue;
  gpuTest(
    `Linear with int8 activations matches the reference for ${format.name}`,
    async (device) => {
      if (!device.capabilities.packedDot) return;
      for (const tokens of [1, 3, 13]) {
        const shape = { rows: 37, columns, tokens, integer: true };
        const error = await errorOf(device, format, shape);
        assert(error <= 1e-3, `${tokens} tokens: NMSE ${error}`);
      }
    },
    { dawn: false },
  );
}

gpuTest("Linear pads float rows that end within a group", async (device) => {
  const tile = { rows: 1, cols: 1, lanes: 4, workgroup: 8 };
  const format = quantFormats.find(({ name }) => name === "F16")!;
  const error = await errorOf(device, format, { rows: 5, columns: 45, tokens: 2, tile });
  assert(error <= 1e-10, `NMSE ${error}`);
});
