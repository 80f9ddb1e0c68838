// Decoding pictures: every format, which way up, what lies below alpha, and sixteen bits per colour.

import { assert, assertEquals } from "@std/assert";
import { decodeImage, type Image } from "../../../engine/vision/image/mod.ts";
import {
  bmpFile,
  exif,
  FILES,
  GIF,
  GRADIENT,
  HEIGHT,
  jpegFile,
  pngFile,
  webpFile,
  WIDTH,
} from "./image_files.ts";

/** How far any byte is from the gradient. */
function distance({ pixels }: Image): number {
  return Math.max(...pixels.map((byte, at) => Math.abs(byte - GRADIENT[at])));
}

const GRADIENTS: [name: string, bytes: Uint8Array, tolerance: number][] = [
  ["a PNG", pngFile({ data: GRADIENT }), 0],
  ["a baseline JPEG", FILES.jpeg, 4],
  ["a progressive JPEG", FILES.progressive, 4],
  ["a lossy WebP", FILES.webpLossy, 18],
  ["a lossless WebP", FILES.webpLossless, 0],
  ["a WebP with alpha, without it", FILES.webpAlpha, 0],
  ["an animated WebP, its first frame", FILES.webpAnimated, 0],
  ["a BMP", bmpFile(false), 0],
  ["a BMP from top to bottom", bmpFile(true), 0],
];

for (const [name, bytes, tolerance] of GRADIENTS) {
  Deno.test(`decodeImage() reads ${name}`, async () => {
    const image = await decodeImage(bytes);
    assertEquals([image.width, image.height, image.pixels.length], [WIDTH, HEIGHT, 384]);
    assert(distance(image) <= tolerance, `the largest difference is ${distance(image)}`);
  });
}

Deno.test("decodeImage() reads the first frame of a GIF", async () => {
  const { width, height, pixels } = await decodeImage(GIF);
  assertEquals([width, height], [4, 2]);
  const [red, green, blue, yellow] = [[255, 0, 0], [0, 255, 0], [0, 0, 255], [255, 255, 0]];
  assertEquals([...pixels], [red, green, blue, yellow, yellow, blue, green, red].flat());
});

Deno.test("decodeImage() reads bytes that are a part of a larger buffer", async () => {
  const file = pngFile({ data: GRADIENT });
  const buffer = new Uint8Array(file.length + 20).fill(7);
  buffer.set(file, 10);
  assertEquals(distance(await decodeImage(buffer.subarray(10, 10 + file.length))), 0);
});

const COLORS = [[1, 2, 3], [4, 5, 6], [200, 210, 220], [9, 8, 7]];
const ALPHAS = [0, 128, 100, 255];

const PNGS: [name: string, file: Uint8Array, pixels: number[][]][] = [
  [
    "drops alpha and keeps the colours below it",
    pngFile({
      width: 4,
      height: 1,
      colorType: 6,
      data: COLORS.flatMap((color, index) => [...color, ALPHAS[index]]),
    }),
    COLORS,
  ],
  [
    "drops the alpha of a palette",
    pngFile({
      width: 4,
      height: 1,
      colorType: 3,
      data: [0, 1, 2, 3],
      chunks: [["PLTE", Uint8Array.from(COLORS.flat())], ["tRNS", Uint8Array.from(ALPHAS)]],
    }),
    COLORS,
  ],
  [
    "makes three colours of grey",
    pngFile({ width: 4, height: 1, colorType: 0, data: ALPHAS }),
    ALPHAS.map((grey) => [grey, grey, grey]),
  ],
  [
    "makes three colours of grey with alpha",
    pngFile({ width: 2, height: 1, colorType: 4, data: [10, 0, 20, 128] }),
    [[10, 10, 10], [20, 20, 20]],
  ],
  [
    "makes bytes of single bits",
    pngFile({ width: 4, height: 1, colorType: 0, bitDepth: 1, data: [0b0110_0000] }),
    [0, 255, 255, 0].map((grey) => [grey, grey, grey]),
  ],
];

for (const [name, file, pixels] of PNGS) {
  Deno.test(`decodeImage() ${name}`, async () => {
    assertEquals([...(await decodeImage(file)).pixels], pixels.flat());
  });
}

/** Sixteen bits for each byte, whose lower half would round it up. */
function deepen(bytes: readonly number[]): number[] {
  return bytes.flatMap((byte) => [byte, 200]);
}

/** Pixels that no filter of rows predicts everywhere, so that an encoder uses several. */
const NOISE = Array.from({ length: 24 * 24 }, (_, at) => {
  const [x, y] = [at % 24, Math.floor(at / 24)];
  return [x * 10, y * 9, y < 12 ? x * y % 251 : x * x * y % 251];
});

for (const hasAlpha of [false, true]) {
  const kind = hasAlpha ? "and alpha" : "and no alpha";
  Deno.test(`decodeImage() keeps the upper of sixteen bits of colours ${kind}`, async () => {
    const alpha = hasAlpha ? [40] : [];
    const data = deepen(NOISE.flatMap((color) => [...color, ...alpha]));
    const colorType = hasAlpha ? 6 : 2;
    const file = pngFile({ width: 24, height: 24, colorType, bitDepth: 16, data });
    assertEquals([...(await decodeImage(file)).pixels], NOISE.flat());
  });

  Deno.test(`decodeImage() keeps the upper of sixteen bits of grey ${kind}`, async () => {
    const greys = NOISE.map(([, , grey]) => grey);
    const data = deepen(greys.flatMap((grey) => hasAlpha ? [grey, 0] : [grey]));
    const colorType = hasAlpha ? 4 : 0;
    const file = pngFile({ width: 24, height: 24, colorType, bitDepth: 16, data });
    const expected = greys.flatMap((grey) => [grey, grey, grey]);
    assertEquals([...(await decodeImage(file)).pixels], expected);
  });
}

Deno.test("decodeImage() undoes every filter of a PNG", async () => {
  const filtered = [
    [10, 20, 30, 40],
    [5, 1, 1, 1],
    [1, 255, 0, 0],
    [10, 10, 6, 3],
    [1, 1, 2, 4],
  ];
  const { pixels } = await decodeImage(pngFile({
    width: 4,
    height: 5,
    colorType: 0,
    bitDepth: 16,
    data: deepen(filtered.flat()),
    filters: [0, 1, 2, 3, 4],
  }));
  assertEquals([...pixels.filter((_, at) => at % 3 === 0)], [
    ...[10, 20, 30, 40],
    ...[5, 6, 7, 8],
    ...[6, 5, 7, 8],
    ...[13, 19, 19, 16],
    ...[14, 20, 22, 23],
  ]);
});

/** Where a pixel of an upright picture is stored, by orientation. */
const STORED: ((x: number, y: number) => [x: number, y: number])[] = [
  (x, y) => [x, y],
  (x, y) => [WIDTH - 1 - x, y],
  (x, y) => [WIDTH - 1 - x, HEIGHT - 1 - y],
  (x, y) => [x, HEIGHT - 1 - y],
  (x, y) => [y, x],
  (x, y) => [y, HEIGHT - 1 - x],
  (x, y) => [WIDTH - 1 - y, HEIGHT - 1 - x],
  (x, y) => [WIDTH - 1 - y, x],
];

function turned(orientation: number): { width: number; height: number; pixels: number[] } {
  const [width, height] = orientation > 4 ? [HEIGHT, WIDTH] : [WIDTH, HEIGHT];
  const pixels = Array.from({ length: width * height }, (_, at) => {
    const [x, y] = STORED[orientation - 1](at % width, Math.floor(at / width));
    return GRADIENT.slice((y * WIDTH + x) * 3, (y * WIDTH + x + 1) * 3);
  });
  return { width, height, pixels: pixels.flat() };
}

const TURNED: [name: string, file: (orientation: number) => Uint8Array, tolerance: number][] = [
  ["JPEG", jpegFile, 4],
  ["WebP", webpFile, 0],
  ["PNG", (value) => pngFile({ data: GRADIENT, chunks: [["eXIf", exif(value)]] }), 0],
  [
    "little-endian",
    (value) => pngFile({ data: GRADIENT, chunks: [["eXIf", exif(value, true)]] }),
    0,
  ],
];

for (const [name, file, tolerance] of TURNED) {
  Deno.test(`decodeImage() turns a picture upright in all eight ways: ${name}`, async () => {
    for (const orientation of [1, 2, 3, 4, 5, 6, 7, 8]) {
      const image = await decodeImage(file(orientation));
      const expected = turned(orientation);
      assertEquals([image.width, image.height], [expected.width, expected.height]);
      const differences = image.pixels.map((byte, at) => Math.abs(byte - expected.pixels[at]));
      assert(Math.max(...differences) <= tolerance, `orientation ${orientation}`);
    }
  });
}

Deno.test("decodeImage() leaves a picture as it is if its EXIF data is damaged or says nonsense", async () => {
  for (const data of [exif(0), exif(9), exif(6).slice(0, 15), new Uint8Array(3)]) {
    const image = await decodeImage(pngFile({ data: GRADIENT, chunks: [["eXIf", data]] }));
    assertEquals([image.width, distance(image)], [WIDTH, 0]);
  }
});

Deno.test("decodeImage() works in a worker", async () => {
  const worker = new Worker(new URL("image_worker.ts", import.meta.url), { type: "module" });
  try {
    const answer = new Promise<Image>((resolve, reject) => {
      worker.onmessage = ({ data }) => resolve(data);
      worker.onerror = (event) => reject(new Error(event.message));
    });
    worker.postMessage(pngFile({ data: GRADIENT }));
    assertEquals(distance(await answer), 0);
  } finally {
    worker.terminate();
  }
});
