// Prepared pictures against those that llama.cpp made for the fixtures, byte for byte.
// Ignored where the conformance data is not there.

import { assert, assertEquals } from "@std/assert";
import { existsSync } from "node:fs";
import { MetadataReader, readGguf } from "../../../engine/gguf/mod.ts";
import { familyOf } from "../../../engine/vision/families/mod.ts";
import { decodeImage, type Image } from "../../../engine/vision/image/mod.ts";
import { normalize, preprocess, readPreprocessing } from "../../../engine/vision/preprocess/mod.ts";

const DATA = new URL("../../../../shared/data/", import.meta.url);
const VISION = new URL("models/vision/", DATA);
const isThere = existsSync(VISION);
const fixtures = isThere
  ? [...Deno.readDirSync(VISION)].filter((entry) => entry.isDirectory).map(({ name }) => name)
  : [];

/** The parts of a manifest that are used here. */
interface Manifest {
  image_min_tokens: number | null;
  image_max_tokens: number | null;
  images: Record<string, {
    file: string;
    pixels_u8: string;
    pixels_f32?: string;
    grid: [number, number];
    preprocessed: { role: string; width: number; height: number }[];
  }>;
}

/** Decoded pictures by the names of their files: all fixtures have the same. */
const sources = new Map<string, Promise<Image>>();

function readSource(file: string): Promise<Image> {
  const source = sources.get(file) ??
    Deno.readFile(new URL(`images/${file}`, DATA)).then(decodeImage);
  sources.set(file, source);
  return source;
}

for (const fixture of fixtures) {
  Deno.test(`preprocess() makes the pixels of the fixture ${fixture}`, async () => {
    const folder = new URL(`${fixture}/`, VISION);
    const manifest: Manifest = JSON.parse(
      await Deno.readTextFile(new URL("manifest.json", folder)),
    );
    const gguf = await readGguf(new URL("mmproj.gguf", folder));
    const metadata = new MetadataReader(gguf);
    const config = readPreprocessing(metadata, familyOf(metadata, gguf.path).pictures, {
      ...(manifest.image_min_tokens && { imageMinTokens: manifest.image_min_tokens }),
      ...(manifest.image_max_tokens && { imageMaxTokens: manifest.image_max_tokens }),
    });
    for (const expected of Object.values(manifest.images)) {
      const source = await readSource(expected.file);
      const { images, columns, rows } = preprocess(source, config);
      const shapes = images.map(({ role, width, height }) => ({ role, width, height }));
      const expectedShapes = expected.preprocessed
        .map(({ role, width, height }) => ({ role, width, height }));
      assertEquals(shapes, expectedShapes);
      assertEquals([columns, rows], expected.grid);

      const pixels = images.flatMap((image) => [...image.pixels]);
      const bytes = await Deno.readFile(new URL(expected.pixels_u8, folder));
      assert(pixels.every((byte, at) => byte === bytes[at]) && pixels.length === bytes.length);

      if (!expected.pixels_f32) continue;
      const floats = await Deno.readFile(new URL(expected.pixels_f32, folder));
      const values = images.flatMap((image) => [...normalize(image, config)]);
      assertEquals(Float32Array.from(values), new Float32Array(floats.buffer));
    }
  });
}
