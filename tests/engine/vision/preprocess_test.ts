// Preparing pictures: sizes, bars, tiles and their order, and what a model's file decides.

import { assert, assertEquals, assertThrows } from "@std/assert";
import { RequestError, UnsupportedModelError } from "../../../engine/errors.ts";
import { MetadataReader, type MetadataValue } from "../../../engine/gguf/mod.ts";
import { familyOf } from "../../../engine/vision/families/mod.ts";
import { type Image, ImageError } from "../../../engine/vision/image/mod.ts";
import {
  layOut,
  mostPatches,
  normalize,
  type PreparedImages,
  preprocess,
  type PreprocessingConfig,
  readPreprocessing,
  type TokenLimits,
} from "../../../engine/vision/preprocess/mod.ts";
import { randomFloats } from "../../numbers.ts";

/** A picture of one grey. */
function plain(width: number, height: number, grey = 200): Image {
  return { width, height, pixels: new Uint8Array(width * height * 3).fill(grey) };
}

/** What the file of a projector gives; keys are below "clip.vision.". */
function configOf(
  projector: string,
  keys: Record<string, MetadataValue> = {},
  limits: TokenLimits = {},
): PreprocessingConfig {
  const all = {
    image_size: 28,
    patch_size: 14,
    image_mean: Float32Array.of(0.5, 0.5, 0.5),
    image_std: Float32Array.of(0.5, 0.5, 0.5),
    ...keys,
  };
  const metadata = {
    "clip.projector_type": projector,
    ...Object.fromEntries(Object.entries(all).map(([key, value]) => [`clip.vision.${key}`, value])),
  };
  const reader = new MetadataReader({ path: "projector.gguf", metadata });
  return readPreprocessing(reader, familyOf(reader, "projector.gguf").pictures, limits);
}

/** The sides of the first picture. */
function sidesOf({ images: [{ width, height }] }: PreparedImages): string {
  return `${width} x ${height}`;
}

/** The roles of the pictures, in order. */
function rolesOf({ images }: PreparedImages): string {
  return images.map(({ role }) => role).join(" ");
}

/** The greys down the middle of a picture. */
function middleOf({ width, height, pixels }: Image): number[] {
  const column = width >> 1;
  return Array.from({ length: height }, (_, row) => pixels[(row * width + column) * 3]);
}

Deno.test("layOut() tells what preprocess() makes of pictures of any size", () => {
  const pinpoints = { image_grid_pinpoints: Int32Array.of(28, 56, 56, 28, 56, 56) };
  const configs = [
    configOf("gemma3"),
    configOf("mlp"),
    configOf("mlp", pinpoints),
    configOf("llama4"),
    configOf("idefics3", { preproc_image_size: 112 }),
    configOf("pixtral", {}, { imageMinTokens: 4, imageMaxTokens: 40 }),
    configOf("qwen2.5vl_merger", {}, { imageMinTokens: 4, imageMaxTokens: 30 }),
    configOf("gemma4v", {}, { imageMinTokens: 4, imageMaxTokens: 30 }),
  ];
  const random = randomFloats(60, 7).map((value) => Math.abs(value) * 120 % 150);
  for (const config of configs) {
    for (let at = 0; at < random.length; at += 2) {
      const size = { width: 1 + Math.floor(random[at]), height: 1 + Math.floor(random[at + 1]) };
      const { images, ...rest } = preprocess(plain(size.width, size.height), config);
      const sizes = images.map(({ width, height, role }) => ({ width, height, role }));
      assertEquals(layOut(size, config), { images: sizes, ...rest });
    }
  }
  assertThrows(() => layOut({ width: 1000, height: 4 }, configs[0]), ImageError, "crop it");
});

Deno.test("preprocess() centres a picture between bars, the smaller one first", () => {
  // 28 / 40 * 18 = 12.6, so 13 rows between 7 and 8.
  const { images: [image] } = preprocess(plain(40, 18), configOf("gemma3"));
  const bars = (rows: number) => new Array(rows).fill(0);
  assertEquals(middleOf(image), [...bars(7), ...new Array(13).fill(200), ...bars(8)]);
});

Deno.test("preprocess() has bars of the mean colour for LLaVA", () => {
  const { images: [{ pixels }] } = preprocess(plain(10, 30), configOf("mlp"));
  assertEquals([...pixels.slice(0, 3)], [122, 116, 104]);
  assertEquals([...pixels.slice(-3)], [122, 116, 104]);
});

Deno.test("preprocess() leaves a picture of the right size alone", () => {
  const image = plain(28, 28);
  image.pixels[100] = 3;
  assertEquals(preprocess(image, configOf("gemma3")).images[0].pixels, image.pixels);
});

const SIZES: [projector: string, width: number, height: number, size: string, TokenLimits?][] = [
  // To the nearest multiple of two patches of 14.
  ["qwen2.5vl_merger", 1000, 500, "1008 x 504"],
  // 84 x 84 is 9 tokens; the least are 8.
  ["qwen2.5vl_merger", 10, 10, "84 x 84"],
  // 4096 tokens at most: both sides are divided by 3.866, then cut to whole tokens.
  ["qwen3vl_merger", 8000, 6000, "2044 x 1540"],
  ["qwen3vl_merger", 8000, 6000, "308 x 224", { imageMaxTokens: 100 }],
  ["qwen3vl_merger", 100, 100, "308 x 308", { imageMinTokens: 110 }],
  ["pixtral", 1000, 500, "630 x 308"],
  ["gemma4v", 1000, 500, "966 x 462"],
  ["gemma4v", 50, 50, "294 x 294"],
  // Too thin for its length: the shorter side does not go below a token.
  ["qwen2.5vl_merger", 2000, 10, "1988 x 28"],
];

for (const [projector, width, height, size, limits] of SIZES) {
  const said = limits ? ` with ${JSON.stringify(limits)}` : "";
  Deno.test(`preprocess() makes ${size} of ${width} x ${height} for ${projector}${said}`, () => {
    assertEquals(sidesOf(preprocess(plain(width, height), configOf(projector, {}, limits))), size);
  });
}

Deno.test("preprocess() takes the patches of a token from the file", () => {
  const config = configOf("qwen3vl_merger", { spatial_merge_size: 3, patch_size: 16 });
  assertEquals(sidesOf(preprocess(plain(200, 100), config)), "192 x 96");
});

Deno.test("preprocess() cuts a picture for Idefics 3 into tiles, the overview last", () => {
  const config = configOf("idefics3", { preproc_image_size: 100 });
  const prepared = preprocess(plain(400, 210), config);
  // 100 x 52 pixels on tiles of 28.
  assertEquals([prepared.columns, prepared.rows, prepared.images.length], [4, 2, 9]);
  assertEquals(rolesOf(prepared), `${"tile ".repeat(8)}overview`);
  assert(prepared.images.every(({ pixels }) => pixels.every((byte) => byte === 200)));
});

Deno.test("preprocess() enlarges a small picture for Idefics 3", () => {
  const prepared = preprocess(plain(3, 5), configOf("idefics3", { preproc_image_size: 56 }));
  assertEquals([prepared.columns, prepared.rows], [2, 2]);
});

Deno.test("preprocess() chooses the canvas for Llama 4 that shows most of a picture", () => {
  const grids = [[56, 20], [20, 56], [100, 100], [84, 30], [600, 40]].map(([width, height]) => {
    const { columns, rows } = preprocess(plain(width, height), configOf("llama4"));
    return [columns, rows];
  });
  assertEquals(grids, [[2, 1], [1, 2], [3, 3], [3, 2], [3, 1]]);
});

Deno.test("preprocess() puts the tiles for Llama 4 row by row, then the overview", () => {
  const image = plain(56, 56);
  const quarters = [10, 20, 30, 40];
  for (let at = 0; at < 56 * 56; at++) {
    const [column, row] = [at % 56 < 28 ? 0 : 1, at < 28 * 56 ? 0 : 1];
    image.pixels.fill(quarters[row * 2 + column], at * 3, at * 3 + 3);
  }
  const prepared = preprocess(image, configOf("llama4"));
  assertEquals(rolesOf(prepared), "tile tile tile tile overview");
  for (const [index, grey] of quarters.entries()) {
    assert(prepared.images[index].pixels.every((byte) => byte === grey));
  }
});

Deno.test("preprocess() does not cut a picture for Llama 4 that is no larger than a tile", () => {
  const prepared = preprocess(plain(28, 5), configOf("llama4"));
  assertEquals([rolesOf(prepared), sidesOf(prepared)], ["image", "28 x 28"]);
  assertEquals([prepared.columns, prepared.rows], [0, 0]);
  // Stretched, not fitted.
  assertEquals(new Set(prepared.images[0].pixels), new Set([200]));
});

Deno.test("preprocess() cuts a picture for LLaVA into tiles where the file says on which canvases", () => {
  const keys = { image_grid_pinpoints: Int32Array.of(28, 56, 56, 28, 56, 56) };
  const prepared = preprocess(plain(100, 50), configOf("mlp", keys));
  assertEquals(rolesOf(prepared), "overview tile tile");
  assertEquals([prepared.columns, prepared.rows], [2, 1]);
});

Deno.test("preprocess() refuses a picture that is a line", () => {
  assertThrows(() => preprocess(plain(2001, 10), configOf("llama4")), ImageError, "200 times");
  assertThrows(() => preprocess(plain(1, 201), configOf("pixtral")), ImageError, "1 x 201");
  preprocess(plain(1, 200), configOf("pixtral"));
});

Deno.test("normalize() subtracts the mean and divides by the deviation of each channel", () => {
  const image = { width: 1, height: 1, pixels: Uint8Array.of(0, 51, 255) };
  const values = normalize(image, { mean: [0.5, 0.2, 0], std: [0.5, 0.25, 2] });
  assertEquals([...values], [-1, 0, 0.5]);
});

Deno.test("familyOf() finds the type of projector where newer files have it", () => {
  const config = configOf("", { projector_type: "gemma4v" });
  assertEquals([config.method, config.merge], ["dynamic", 3]);
});

Deno.test("familyOf() refuses projectors that it does not know", () => {
  assertThrows(() => configOf("toString"), UnsupportedModelError, '"toString"');
});

Deno.test("readPreprocessing() refuses means of too few channels", () => {
  const keys = { image_mean: Float32Array.of(0.5) };
  assertThrows(() => configOf("gemma3", keys), UnsupportedModelError, "image_mean has 1 values");
});

Deno.test("readPreprocessing() refuses limits that leave nothing", () => {
  const limits = { imageMinTokens: 2000 };
  assertThrows(() => configOf("pixtral", {}, limits), RequestError, "imageMinTokens is 2000");
  // Where pictures have one size, limits say nothing.
  configOf("gemma3", {}, limits);
});

Deno.test("mostPatches() bounds what pictures of any shape become", () => {
  const random = randomFloats(2000, 7).values();
  const numberTo = (most: number) => 1 + Math.floor(Math.abs(random.next().value!) % 1 * most);
  for (let i = 0; i < 300; i++) {
    const merge = numberTo(2);
    const imageMaxTokens = numberTo(40);
    const limits = { imageMaxTokens, imageMinTokens: numberTo(imageMaxTokens) };
    const config = configOf("pixtral", { patch_size: 1, spatial_merge_size: merge }, limits);
    const shorter = numberTo(6);
    const sides = [shorter, numberTo(200 * shorter)];
    if (i % 2) sides.reverse();
    const { images: [{ width, height }] } = preprocess(plain(sides[0], sides[1]), config);
    const most = mostPatches(config);
    assert(width * height <= most, `${sides} becomes ${width} x ${height} over ${most}`);
  }
  assertEquals(mostPatches(configOf("gemma3", { image_size: 57 })), 16);
});
