// The look-up of embeddings and the resolution of a step's rows: tokens from the host and from
// slots, tables in one part and in several, columns that end within a group, and rows of images.

import { assert, assertEquals } from "@std/assert";
import {
  type Device,
  embedReference,
  type FloatRows,
  isQuantized,
  MEDIA_TOKEN,
  PLAN_ROW,
  SLOT_TOKEN,
  STEP_ROW,
} from "../../kernels/mod.ts";
import { type GpuMatrix, WebGpuDevice } from "../../kernels/webgpu/mod.ts";
import { deviceTest, readWords, submit, upload } from "../gpu.ts";
import { randomFloats } from "../numbers.ts";
import { assertRows, outputRows, relative, ULP, uploadRows } from "./close.ts";
import { formatNamed, randomMatrix } from "./weights.ts";
import { webGpuTest } from "../adapter.ts";

const VOCABULARY = 70;
const CONTEXT = 5;
/** Rows of which slots resolve three. */
const PLAN = [
  [0, 0, 0, 0, 0],
  [69, 1, 0, 0, 0],
  [7, 99, 1, 1, 0],
  [31, 4, 2, 0, 2],
  [32, 3, 2, 0, 0],
  [7, 99, 0, 1, 2],
  [64, 5, 1, 0, 2], // beyond the context: looked up, but not noted
  [7, 99, 2, 1, 0],
].map(([token, position, slot, inSlot, delta]) => {
  return { token, position, slot, inSlot, timeDelta: delta, heightDelta: 0, widthDelta: delta / 2 };
});
const SLOTS = [{ token: 63, position: 2 }, { token: 68, position: 0 }, { token: 33, position: 1 }];
const RESOLVED = PLAN.map(({ slot, inSlot, timeDelta, heightDelta, widthDelta, ...given }) => {
  const { token, position } = inSlot === 1 ? SLOTS[slot] : given;
  const [time, height, width] = [timeDelta, heightDelta, widthDelta].map((by) => position - by);
  return { token, position, slot, time, height, width };
});

async function assertEmbedding(device: Device, name: string, columns: number, parts: number) {
  const { matrix, weights } = randomMatrix(device, formatNamed(name), {
    rows: VOCABULARY,
    columns,
  });
  if ("parts" in matrix) assertEquals((matrix as GpuMatrix).parts.length, parts);
  const rows = upload(device, new Uint32Array(STEP_ROW.words * PLAN.length));
  const history = upload(device, new Uint32Array(SLOTS.length * CONTEXT).fill(1000));
  const step = {
    plan: upload(device, PLAN_ROW.pack(PLAN)),
    slots: upload(device, SLOT_TOKEN.pack(SLOTS)),
    rows,
    history,
    context: CONTEXT,
  };
  const x = outputRows(device, PLAN.length, columns, false);
  assert(!isQuantized(x));
  const scale = 1.5;
  const embed = device.embed(matrix, step, x as FloatRows, { scale });
  submit(device, (pass) => embed.encode(pass, PLAN.length));

  const tokens = Uint32Array.from(RESOLVED, ({ token }) => token);
  const expected = embedReference(weights, tokens, columns).map((value) => value * scale);
  // Two products, of scale and code and of both and the factor; here and in the reference.
  await assertRows(device, x, expected, relative(expected, 2));
  // Then by position, on top of what is there.
  const positions = Uint32Array.from(RESOLVED, ({ position }) => position);
  const added = device.embed(matrix, step, x as FloatRows, {
    by: "position",
    accumulate: true,
  });
  submit(device, (pass) => added.encode(pass, PLAN.length));
  const terms = embedReference(weights, positions, columns);
  await assertRows(
    device,
    x,
    expected.map((value, i) => value + terms[i]),
    (i) => 3 * ULP * (Math.abs(expected[i]) + Math.abs(terms[i])),
  );
  assertEquals(
    await readWords(device, rows, STEP_ROW.words * PLAN.length),
    STEP_ROW.pack(RESOLVED),
  );
  const noted = new Uint32Array(SLOTS.length * CONTEXT).fill(1000);
  for (const { token, position, slot } of RESOLVED) {
    if (position < CONTEXT) noted[slot * CONTEXT + position] = token;
  }
  assertEquals(await readWords(device, history, noted.length), noted);
}

const TABLES = [["F16", 45], ["Q4_0", 96], ["Q6_K", 768], ["IQ3_S", 768], ["MXFP4", 96]] as const;
/** Bytes of a row in its widest plane. */
const WIDEST = { F16: 128, Q4_0: 48, Q6_K: 384, IQ3_S: 324, MXFP4: 48 };

for (const [name, columns] of TABLES) {
  deviceTest(`Embed looks up ${name} rows of ${columns} columns`, async (device) => {
    await assertEmbedding(device, name, columns, 1);
  });
}

webGpuTest("Embed looks up tables that are split in three parts", async () => {
  for (const [name, columns] of TABLES) {
    using device = await WebGpuDevice.open({ maxBindingSize: 40 * WIDEST[name] });
    await device.scoped("embed", () => assertEmbedding(device, name, columns, 3));
  }
});

deviceTest("Embed leaves rows of images to the table that has them", async (device) => {
  const columns = 40;
  const { matrix, weights } = randomMatrix(device, formatNamed("F32"), { rows: 3, columns });
  const imageWeights = randomFloats(7 * columns, 7);
  const tokens = [2, MEDIA_TOKEN + 6, MEDIA_TOKEN + 5, 1];
  const planned = tokens.map((token, position) => {
    return { token, position, slot: 0, inSlot: 0, timeDelta: 0, heightDelta: 0, widthDelta: 0 };
  });
  const step = {
    plan: upload(device, PLAN_ROW.pack(planned)),
    slots: upload(device, new Uint32Array(SLOT_TOKEN.words)),
    rows: upload(device, new Uint32Array(STEP_ROW.words * tokens.length)),
    history: upload(device, new Uint32Array(4)),
    context: 4,
  };
  const x = outputRows(device, tokens.length, columns, false) as FloatRows;
  const table = device.tableOf(uploadRows(device, imageWeights, columns), 7, MEDIA_TOKEN);
  const embeds = [
    device.embed(matrix, step, x, { scale: 3 }),
    device.embed(table, step, x, { by: "token" }),
    device.embed(matrix, step, x, { by: "token", accumulate: true, standIn: true }),
  ];
  submit(device, (pass) => embeds.forEach((embed) => embed.encode(pass, tokens.length)));
  const rowOf = (from: Float32Array, row: number) =>
    from.subarray(row * columns, (row + 1) * columns);
  const expected = new Float32Array(tokens.length * columns);
  const own = [[weights, 2, 3], [imageWeights, 6, 1], [imageWeights, 5, 1], [
    weights,
    1,
    3,
  ]] as const;
  own.forEach(([from, row, scale], i) => {
    const added = rowOf(weights, tokens[i] < 3 ? tokens[i] : 0);
    expected.set(rowOf(from, row).map((value, j) => scale * value + added[j]), i * columns);
  });
  await assertRows(device, x, expected, () => 12 * ULP);
});
