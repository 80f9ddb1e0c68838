// The decoder for JPEG: sampling factors, colours, restarts, scans that are wrong. That its bytes are
// those of stb_image shows in the conformance data (image_fixtures_test.ts).

import { assert, assertEquals, assertRejects } from "@std/assert";
import { Buffer } from "node:buffer";
import { decodeImage, ImageError } from "../../../engine/vision/image/mod.ts";
import { readFrame } from "../../../engine/vision/image/jpeg/frame.ts";
import { upsample } from "../../../engine/vision/image/jpeg/samples.ts";
import { FILES } from "./image_files.ts";
import { type JpegComponent, jpegOf, segment } from "./image_jpeg_files.ts";

/** Luminance and chrominances of a file, each chrominance of one block per unit. */
function ycc(horizontal: number, vertical: number, luminances: readonly number[]): JpegComponent[] {
  const units = luminances.length / (horizontal * vertical);
  const chrominance = { horizontal: 1, vertical: 1 };
  return [
    { id: 1, horizontal, vertical, blocks: luminances },
    { ...chrominance, id: 2, blocks: new Array(units).fill(100) },
    { ...chrominance, id: 3, blocks: new Array(units).fill(150) },
  ];
}

/** The colour of a luminance with these chrominances: red, green and blue. */
function colorOf(luminance: number): number[] {
  const [cb, cr] = [100 - 128, 150 - 128];
  return [1.402 * cr, -0.71414 * cr - 0.34414 * cb, 1.772 * cb]
    .map((offset) => Math.round(luminance + offset));
}

/** The pixel in the middle of each block of 8 x 8. */
async function readBlocks(bytes: Uint8Array): Promise<number[][]> {
  const { width, height, pixels } = await decodeImage(bytes);
  const columns = Math.ceil(width / 8);
  return Array.from({ length: columns * Math.ceil(height / 8) }, (_, block) => {
    const x = Math.min(block % columns * 8 + 4, width - 1);
    const y = Math.min(Math.floor(block / columns) * 8 + 4, height - 1);
    const at = (y * width + x) * 3;
    return [...pixels.slice(at, at + 3)];
  });
}

const LAYOUTS: [name: string, horizontal: number, vertical: number, order: number[]][] = [
  ["4:4:4", 1, 1, [0, 1, 2, 3, 4, 5, 6, 7]],
  ["4:2:2", 2, 1, [0, 1, 2, 3, 4, 5, 6, 7]],
  ["4:4:0", 1, 2, [0, 4, 1, 5, 2, 6, 3, 7]],
  ["4:2:0", 2, 2, [0, 1, 4, 5, 2, 3, 6, 7]],
  ["4:1:1", 4, 1, [0, 1, 2, 3, 4, 5, 6, 7]],
];

for (const [name, horizontal, vertical, order] of LAYOUTS) {
  Deno.test(`decodeImage() puts the blocks of a JPEG with ${name} in their places`, async () => {
    const greys = [60, 80, 100, 120, 140, 160, 180, 200];
    const components = ycc(horizontal, vertical, order.map((block) => greys[block]));
    const file = jpegOf({ width: 32, height: 16, components });
    assertEquals(await readBlocks(file), greys.map(colorOf));
  });
}

Deno.test("decodeImage() starts anew at the restart markers of a JPEG", async () => {
  const greys = Array.from({ length: 24 }, (_, index) => 50 + index * 5);
  const components = ycc(1, 1, greys);
  const file = jpegOf({ width: 8 * 24, height: 8, components, restartInterval: 2 });
  assertEquals(await readBlocks(file), greys.map(colorOf));
});

Deno.test("decodeImage() refuses a JPEG that lacks a restart marker", async () => {
  const components = ycc(1, 1, [60, 80, 100]);
  const file = jpegOf({ width: 24, height: 8, components, restartInterval: 1 });
  const marker = file.findLastIndex((byte, at) => byte === 0xff && file[at + 1] === 0xd0);
  const lacking = Uint8Array.from([...file.slice(0, marker), ...file.slice(marker + 2)]);
  await assertRejects(() => decodeImage(lacking), ImageError, "damaged");
});

Deno.test("decodeImage() reads a grey JPEG whatever its sampling factors", async () => {
  const components = [{ id: 1, horizontal: 2, vertical: 2, blocks: [10, 90, 200] }];
  const file = jpegOf({ width: 20, height: 5, components });
  assertEquals((await readBlocks(file)).map(([red]) => red), [10, 90, 200]);
});

const COLORS = [10, 90, 200].map((blocks, index) => ({
  id: index + 1,
  horizontal: 1,
  vertical: 1,
  blocks: [blocks],
}));
const ADOBE = [...new TextEncoder().encode("Adobe"), 0, 100, 0, 0, 0, 0];

Deno.test("decodeImage() leaves colours alone that a JPEG says are not transformed", async () => {
  const named = COLORS.map((component, index) => ({ ...component, id: "RGB".charCodeAt(index) }));
  const files = [
    jpegOf({ width: 8, height: 8, components: named }),
    jpegOf({ width: 8, height: 8, components: COLORS, segments: [segment(0xee, [...ADOBE, 0])] }),
  ];
  for (const file of files) assertEquals(await readBlocks(file), [[10, 90, 200]]);
  const transformed = [segment(0xee, [...ADOBE, 1])];
  const [color] = await readBlocks(
    jpegOf({ width: 8, height: 8, components: COLORS, segments: transformed }),
  );
  assert(color[2] !== 200);
});

/** Gives all rows of a chrominance, at the resolution of luminance with these factors. */
function upsampled(
  horizontal: number,
  vertical: number,
  rows: readonly number[][],
  size: { width: number; height: number },
): number[][] {
  const factors = horizontal << 4 | vertical;
  const header = [8, 0, size.height, 0, size.width, 2, 1, factors, 0, 2, 0x11, 0];
  const frame = readFrame(Uint8Array.from(header), false);
  const component = frame.components[1];
  const samples = new Uint8ClampedArray(component.columns * 8 * component.rows * 8);
  for (const [y, row] of rows.entries()) samples.set(row, y * component.columns * 8);
  const result = upsample(component, samples, frame);
  return Array.from({ length: size.height }, (_, y) => [...result.row(y).slice(0, size.width)]);
}

Deno.test("upsample() weighs the nearest samples of a row three to one", () => {
  const rows = upsampled(2, 1, [[10, 20, 40]], { width: 6, height: 1 });
  // The last but one has the weights the other way round, as in stb_image.
  assertEquals(rows, [[10, 13, 18, 25, 25, 40]]);
});

Deno.test("upsample() weighs the nearest samples of a column three to one", () => {
  const rows = upsampled(1, 2, [[10], [20], [40]], { width: 1, height: 6 });
  assertEquals(rows.flat(), [10, 13, 18, 25, 35, 40]);
});

Deno.test("upsample() weighs the nearest four samples nine, three, three and one", () => {
  const rows = upsampled(2, 2, [[0, 160], [16, 16]], { width: 4, height: 4 });
  assertEquals(rows, [
    [0, 40, 120, 160],
    [4, 34, 94, 124],
    [12, 22, 42, 52],
    [16, 16, 16, 16],
  ]);
});

Deno.test("upsample() takes the only sample there is", () => {
  for (const [horizontal, vertical] of [[2, 1], [1, 2], [2, 2], [4, 4]]) {
    const rows = upsampled(horizontal, vertical, [[77]], { width: horizontal, height: vertical });
    assertEquals(new Set(rows.flat()), new Set([77]));
  }
});

/** Where the compressed data of the first scan starts. */
function scanStart(bytes: Uint8Array): number {
  const marker = bytes.findIndex((byte, at) => byte === 0xff && bytes[at + 1] === 0xda);
  return marker + 4 + bytes[marker + 3] - 2;
}

Deno.test("decodeImage() refuses a JPEG whose data ends early, though the end mark is there", async () => {
  for (const [bytes, lengths] of [[FILES.jpeg, [0, 5, 35]], [FILES.progressive, [0, 2]]] as const) {
    for (const length of lengths) {
      const file = Uint8Array.from([...bytes.slice(0, scanStart(bytes) + length), 0xff, 0xd9]);
      await assertRejects(() => decodeImage(file), ImageError, "damaged");
    }
  }
});

Deno.test("decodeImage() refuses a JPEG of more scans than any picture needs", async () => {
  const start = FILES.jpeg.findIndex((byte, at) => byte === 0xff && FILES.jpeg[at + 1] === 0xda);
  const scan = FILES.jpeg.slice(start, -2);
  const scans = new Array(101).fill(scan);
  const file = Buffer.concat([FILES.jpeg.slice(0, start), ...scans, FILES.jpeg.slice(-2)]);
  await assertRejects(() => decodeImage(file), ImageError, "too many scans");
});

Deno.test("decodeImage() refuses a JPEG without the tables that it names", async () => {
  const table = FILES.jpeg.findIndex((byte, at) => byte === 0xff && FILES.jpeg[at + 1] === 0xdb);
  const file = FILES.jpeg.slice();
  file[table + 1] = 0xe5;
  await assertRejects(() => decodeImage(file), ImageError, "table");
});
