// Resampling: numbers that can be checked by hand, and rows against a plain evaluation of the filters.
// That it is Pillow's to the byte shows in the fixtures (preprocess_fixtures_test.ts).

import { assert, assertEquals } from "@std/assert";
import type { Image } from "../../../engine/vision/image/mod.ts";
import { type Filter, resample } from "../../../engine/vision/preprocess/resample.ts";

/** A row of pixels with the reds given; green is inverted, blue is half. */
function rowOf(values: readonly number[]): Image {
  const pixels = Uint8Array.from(values.flatMap((value) => [value, 255 - value, value >> 1]));
  return { width: values.length, height: 1, pixels };
}

/** Bytes without a pattern. */
function noise(length: number): number[] {
  let state = 12345;
  return Array.from({ length }, () => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return state >>> 24;
  });
}

function transpose({ width, height, pixels }: Image): Image {
  const turned = Array.from({ length: width * height }, (_, at) => {
    const source = (at % height * width + Math.floor(at / height)) * 3;
    return [...pixels.slice(source, source + 3)];
  });
  return { width: height, height: width, pixels: Uint8Array.from(turned.flat()) };
}

Deno.test("resample() weighs by distance, and twice as wide where it halves", () => {
  const halved = resample(rowOf([0, 70, 140, 210]), 2, 1, "bilinear");
  assertEquals([...halved.pixels], [50, 205, 25, 160, 95, 80]);
  const doubled = resample(rowOf([0, 100]), 4, 1, "bilinear");
  assertEquals([...doubled.pixels].filter((_, at) => at % 3 === 0), [0, 25, 75, 100]);
});

const KERNELS: Record<Filter, (x: number) => number> = {
  bilinear: (x) => Math.max(0, 1 - x),
  bicubic: (x) =>
    x < 1 ? 1.5 * x ** 3 - 2.5 * x ** 2 + 1 : x < 2 ? -0.5 * x ** 3 + 2.5 * x ** 2 - 4 * x + 2 : 0,
  lanczos: (x) => x < 3 ? sinc(x) * sinc(x / 3) : 0,
};

function sinc(x: number): number {
  return x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x);
}

/** The weighted mean of all values for each of so many places. */
function evaluate(values: readonly number[], places: number, filter: Filter): number[] {
  const scale = values.length / places;
  return Array.from({ length: places }, (_, place) => {
    const weights = values.map((_, at) => {
      const distance = Math.abs(at + 0.5 - (place + 0.5) * scale);
      return KERNELS[filter](distance / Math.max(1, scale));
    });
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    const sum = values.reduce((sum, value, at) => sum + value * weights[at], 0);
    return Math.min(255, Math.max(0, sum / total));
  });
}

for (const filter of ["bilinear", "bicubic", "lanczos"] as const) {
  Deno.test(`resample() is the ${filter} filter for larger and smaller rows`, () => {
    for (const [from, to] of [[7, 20], [20, 7], [20, 21], [1, 5], [50, 1], [200, 33]]) {
      const values = noise(from);
      const row = resample(rowOf(values), to, 1, filter);
      assertEquals([row.width, row.height], [to, 1]);
      for (const [at, value] of evaluate(values, to, filter).entries()) {
        // Half a unit, and what weights of 22 bits are off.
        assert(Math.abs(row.pixels[at * 3] - value) < 0.5001, `${from} to ${to}, place ${at}`);
      }
    }
  });
}

Deno.test("resample() treats columns as it treats rows", () => {
  const row = rowOf(noise(40));
  const column = resample(transpose(row), 1, 17, "bicubic");
  assertEquals(column, transpose(resample(row, 17, 1, "bicubic")));
});

Deno.test("resample() filters rows to bytes first, then columns", () => {
  for (const [width, height] of [[5, 30], [30, 5], [4, 3], [25, 31]]) {
    const image = { width: 12, height: 11, pixels: Uint8Array.from(noise(12 * 11 * 3)) };
    const rows = resample(image, width, 11, "lanczos");
    assertEquals(
      resample(image, width, height, "lanczos"),
      resample(rows, width, height, "lanczos"),
    );
  }
});

Deno.test("resample() clamps what cubic weights make of an edge", () => {
  const { pixels } = resample(rowOf([0, 0, 0, 255, 255, 255]), 18, 1, "bicubic");
  assertEquals([Math.min(...pixels), Math.max(...pixels)], [0, 255]);
});
