// The staged matrix product, which the software driver never chooses by itself: it must give what
// the register tiles give, and those are held against plain loops in linear_test.ts.

import { assert } from "@std/assert";
import { floatRows, GROUP, isQuantized, quantFormats, quantizedRows } from "../../kernels/mod.ts";
import {
  allocateMatrix,
  GpuMatrixWriter,
  Linear,
  type LinearTile,
  rowBinders,
  setAffine,
  STAGED,
  type WebGpuDevice,
} from "../../kernels/webgpu/mod.ts";
import { gpuTest, readFloats, submit, write } from "../gpu.ts";
import { nmse, randomFloats } from "../numbers.ts";
import { firstOf } from "../share.ts";
import { readGroups } from "./close.ts";
import { randomBlocks } from "./quants/random_blocks.ts";

interface Case {
  format: string;
  sides: 1 | 2;
  integer: boolean;
  quantizedOutput: boolean;
}

const ROWS = 74;
const TOKENS = 70;
const REGISTERS: LinearTile = { rows: 2, cols: 4, lanes: 1, workgroup: 16 };

/** Outputs of a product with these tiles: rows past the token tile and columns past 64 included. */
async function outputs(device: WebGpuDevice, shape: Case, tile: LinearTile | typeof STAGED) {
  const { sides, integer, quantizedOutput } = shape;
  const format = quantFormats.find(({ name }) => name === shape.format)!;
  const columns = 3 * Math.max(32, format.blockSize);
  const matrix = allocateMatrix(device, "w", format, { rows: ROWS, columns, sides });
  const blocks = ROWS * columns / format.blockSize;
  for (let side = 0; side < sides; side++) {
    const writer = new GpuMatrixWriter(device, matrix, side as 0 | 1);
    writer.append(randomBlocks(format, blocks, side));
    writer.finish();
  }
  const scale = randomFloats(ROWS * sides, 1);
  setAffine(device, matrix, { scale, bias: randomFloats(ROWS * sides, 2) });
  const floats = floatRows(device, "x", TOKENS, columns);
  // Small values: random scales reach 65504, and exp() of a gate must not overflow.
  write(
    device,
    floats.floats,
    randomFloats(TOKENS * floats.stride, 3).map((value) => value * 1e-6),
  );
  const x = integer ? quantizedRows(device, "codes", TOKENS, columns) : floats;
  const y = quantizedOutput
    ? quantizedRows(device, "y", TOKENS, ROWS)
    : floatRows(device, "y", TOKENS, ROWS);
  const linear = new Linear(device, matrix, x, y, { tile, accumulate: sides === 1 });
  submit(device, (pass) => {
    if (isQuantized(x)) rowBinders.quantize(device, floats, x).encode(pass, TOKENS);
    linear.encode(pass, TOKENS);
    if (sides === 1) linear.encode(pass, TOKENS); // adds
  });
  if (!isQuantized(y)) return [...await readFloats(device, y.floats, TOKENS * y.stride)];
  const groups = await readGroups(device, y, TOKENS * y.stride / GROUP);
  return groups.flatMap(({ codes, scales }) => [...codes, ...scales]);
}

const CASES: Case[] = [
  { format: "Q4_K", sides: 1, integer: true, quantizedOutput: false },
  { format: "Q6_K", sides: 2, integer: true, quantizedOutput: true },
  { format: "Q8_0", sides: 2, integer: true, quantizedOutput: true }, // an odd number of groups
  { format: "Q4_0", sides: 2, integer: false, quantizedOutput: false },
];

for (const shape of firstOf(CASES, 2)) {
  const { format, sides, integer } = shape;
  const name = `Linear staged equals register tiles for ${format}, ${sides} sides, ` +
    `${integer ? "int8" : "float"} activations`;
  gpuTest(name, async (device) => {
    if (integer && !device.capabilities.packedDot) return;
    const expected = await outputs(device, shape, REGISTERS);
    const error = nmse(await outputs(device, shape, STAGED), expected);
    assert(error <= 1e-11, `NMSE ${error}`);
    assert(expected.some((value) => value !== 0) && expected.every(Number.isFinite));
  }, { dawn: false });
}
