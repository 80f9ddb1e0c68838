// PNG files of every kind, decoded here and by the platform; and files that unfold to more than they say.

import { assert, assertEquals, assertRejects } from "@std/assert";
import { Buffer } from "node:buffer";
import { crc32, deflateSync } from "node:zlib";
import { CancelFlag, CancelledError } from "../../../engine/cancellation.ts";
import { decodeBitmap } from "../../../engine/vision/image/decode.ts";
import { ImageError } from "../../../engine/vision/image/mod.ts";
import { decodePng } from "../../../engine/vision/image/png.ts";
import { randomFloats } from "../../numbers.ts";

interface Options {
  width: number;
  height: number;
  depth: number;
  type: number;
  interlaced?: boolean;
  /** Each byte twice, so that of 16 bits the upper eight are those of a file with eight; no filters. */
  deepened?: boolean;
  /** Of the data before it is compressed. */
  change?: (data: Uint8Array) => Uint8Array;
  palette?: Uint8Array;
  /** How many chunks the data is in. */
  parts?: number;
}

const CHANNELS: Record<number, number> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };
const PASSES = [
  [0, 0, 8, 8],
  [4, 0, 8, 8],
  [0, 4, 4, 8],
  [2, 0, 4, 4],
  [0, 2, 2, 4],
  [1, 0, 2, 2],
  [0, 1, 1, 2],
];

/** A file whose rows are random bytes with random filters. */
function makeFile(options: Options, seed: number): Uint8Array {
  const { width, height, depth, type, interlaced = false, parts = 1 } = options;
  const passes = interlaced ? PASSES : [[0, 0, 1, 1]];
  const rows: Buffer[] = [];
  for (const [left, top, across, down] of passes as [number, number, number, number][]) {
    const columns = Math.ceil((width - left) / across);
    const lines = Math.ceil((height - top) / down);
    if (columns <= 0) continue;
    const rowBytes = Math.ceil(columns * CHANNELS[type]! * depth / 8);
    for (let line = 0; line < lines; line++) {
      const { deepened = false } = options;
      const random = randomFloats(deepened ? rowBytes / (depth / 8) : rowBytes, seed++);
      const bytes = [...random].map((value) => Math.abs(value) * 1000 & 255);
      const row = deepened && depth === 16 ? bytes.flatMap((byte) => [byte, byte]) : bytes;
      rows.push(Buffer.from([deepened ? 0 : seed % 5, ...row]));
    }
  }
  const data = (options.change ?? ((data) => data))(Buffer.concat(rows));
  const packed = deflateSync(data);
  const header = Buffer.alloc(13);
  header.writeUint32BE(width, 0);
  header.writeUint32BE(height, 4);
  header.set([depth, type, 0, 0, interlaced ? 1 : 0], 8);
  const palette = options.palette ??
    Uint8Array.from({ length: 3 * 2 ** Math.min(depth, 8) }, (_, at) => at * 7);
  const length = Math.ceil(packed.length / parts);
  return new Uint8Array(Buffer.concat([
    Buffer.from("\x89PNG\r\n\x1a\n", "latin1"),
    chunk("IHDR", header),
    ...type === 3 ? [chunk("PLTE", palette)] : [],
    ...Array.from(
      { length: parts },
      (_, i) => chunk("IDAT", packed.subarray(i * length, (i + 1) * length)),
    ),
    chunk("IEND", new Uint8Array()),
  ]));
}

function chunk(name: string, data: Uint8Array): Buffer {
  const bytes = Buffer.concat([Buffer.alloc(4), Buffer.from(name), data, Buffer.alloc(4)]);
  bytes.writeUint32BE(data.length, 0);
  bytes.writeUint32BE(crc32(bytes.subarray(4, -4)), bytes.length - 4);
  return bytes;
}

const KINDS = [
  ...[1, 2, 4, 8, 16].map((depth) => ({ type: 0, depth })),
  ...[8, 16].flatMap((depth) => [2, 4, 6].map((type) => ({ type, depth }))),
  ...[1, 2, 4, 8].map((depth) => ({ type: 3, depth })),
];

for (const interlaced of [false, true]) {
  Deno.test(`decodePng() gives the platform's pixels, ${interlaced ? "" : "not "}interlaced`, async () => {
    for (const [index, kind] of KINDS.entries()) {
      // The platform gives 16 bits away in no form that keeps them; see the tests of decodeImage().
      if (kind.depth === 16) continue;
      for (const [width, height] of [[1, 1], [3, 2], [7, 9], [33, 17]] as const) {
        const file = makeFile(
          { ...kind, width, height, interlaced, parts: index % 3 + 1 },
          index * 99,
        );
        const expected = await decodeBitmap(file);
        const { pixels, ...size } = await decodePng(file);
        assertEquals(size, { width, height });
        assertEquals([kind, width, pixels], [kind, width, expected.pixels]);
      }
    }
  });
}

Deno.test("decodePng() keeps the upper of sixteen bits, interlaced too", async () => {
  for (const type of [0, 2, 4, 6]) {
    for (const interlaced of [false, true]) {
      const options = { width: 13, height: 11, type, interlaced, deepened: true };
      const deep = await decodePng(makeFile({ ...options, depth: 16 }, 5));
      const flat = await decodePng(makeFile({ ...options, depth: 8 }, 5));
      assertEquals([type, interlaced, deep], [type, interlaced, flat]);
      assert(new Set(deep.pixels).size > 50);
    }
  }
});

Deno.test("decodePng() takes no more data than the picture has, and says what is missing", async () => {
  const options = { width: 8, height: 8, depth: 8, type: 2 };
  const longer = makeFile({
    ...options,
    change: (data) => Buffer.concat([data, Buffer.alloc(2 ** 26)]),
  }, 1);
  const { pixels } = await decodePng(longer);
  assertEquals(pixels, (await decodePng(makeFile(options, 1))).pixels);
  const faults: [change: (data: Uint8Array) => Uint8Array, sentence: string][] = [
    [(data) => data.subarray(0, -1), "some rows are missing"],
    [(data) => data.fill(9, 0, 1), "a row has no known filter"],
  ];
  for (const [change, sentence] of faults) {
    await assertRejects(() => decodePng(makeFile({ ...options, change }, 1)), ImageError, sentence);
  }
});

Deno.test("decodePng() is called off between rows", async () => {
  const flag = new CancelFlag();
  flag.set();
  const file = makeFile({ width: 8, height: 8, depth: 8, type: 2 }, 1);
  await assertRejects(() => decodePng(file, [flag]), CancelledError);
});
