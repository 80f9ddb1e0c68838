// Decoded pictures against those of the conformance data, to the byte. Ignored where the data is not
// there.

import { assertEquals } from "@std/assert";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { decodeImage } from "../../../engine/vision/image/mod.ts";

const DATA = new URL("../../../../shared/data/", import.meta.url);
const ignore = !existsSync(new URL("models/vision/", DATA));

/** A manifest says of each picture what all of them say. */
interface Manifest {
  images: Record<string, { file: string; source_size: number[]; decoded_rgb_sha256: string }>;
}

Deno.test({
  name: "decodeImage() reads a photo, and a drawing whose background is transparent, to the byte",
  ignore,
  async fn() {
    const manifest = new URL("models/vision/gemma3/manifest.json", DATA);
    const { images }: Manifest = JSON.parse(await Deno.readTextFile(manifest));
    for (const expected of Object.values(images)) {
      const file = await Deno.readFile(new URL(`images/${expected.file}`, DATA));
      const { width, height, pixels } = await decodeImage(file);
      assertEquals([width, height], expected.source_size);
      const hash = createHash("sha256").update(pixels).digest("hex");
      assertEquals(hash, expected.decoded_rgb_sha256);
    }
  },
});
