// Holds the formats to what format.ts promises of their planes: sizes, independence of the source's
// alignment, and independence of the blocks from each other. What the planes contain is for
// load_group_test.ts to test.

import { assert, assertEquals } from "@std/assert";
import { quantFormat, quantFormats } from "../../../kernels/quants/mod.ts";
import { randomBlocks } from "./random_blocks.ts";

Deno.test("quantFormat() finds every format by its ggml_type and no other", () => {
  for (const format of quantFormats) assertEquals(quantFormat(format.ggmlType), format);
  assertEquals(new Set(quantFormats.map((format) => format.ggmlType)).size, 28);
  for (const removed of [4, 5, 31, 36]) assertEquals(quantFormat(removed), undefined);
});

for (const format of quantFormats) {
  Deno.test(`${format.name} has at most three bindings, within 5 % of the size in GGUF`, () => {
    const bytes = format.planes.reduce((sum, plane) => sum + plane.bytesPerBlock, 0);
    assert(format.planes.length + (format.codebook ? 1 : 0) <= 3);
    assert(bytes >= format.blockBytes && bytes <= 1.05 * format.blockBytes, `${bytes} bytes`);
  });

  Deno.test(`repack() of ${format.name} gives the same planes wherever the source lies`, () => {
    const blocks = 5;
    const source = randomBlocks(format, blocks, format.ggmlType);
    const planes = format.repack(source, blocks);
    assertEquals(
      planes.map((plane) => plane.length),
      format.planes.map((plane) => blocks * plane.bytesPerBlock),
    );
    const before = source.slice();
    for (const offset of [1, 2, 3]) {
      const moved = new Uint8Array(offset + source.length + 7);
      moved.set(source, offset);
      assertEquals(format.repack(moved.subarray(offset), blocks), planes);
    }
    assertEquals(source, before);
  });

  Deno.test(`repack() of ${format.name} in pieces equals repack() of the whole`, () => {
    const source = randomBlocks(format, 7, format.ggmlType);
    const whole = format.repack(source, 7);
    const first = format.repack(source, 3);
    const second = format.repack(source.subarray(3 * format.blockBytes), 4);
    whole.forEach((plane, index) => {
      assertEquals(Uint8Array.from([...first[index], ...second[index]]), Uint8Array.from(plane));
    });
  });
}
