// Holds the formats to what format.ts promises of their planes: sizes, independence of the source's
// alignment, and independence of the blocks from each other. What the planes contain is for
// load_group_test.ts to test.

import { assert, assertEquals } from "@std/assert";
import { quantFormat, quantFormats, repack } from "../../../kernels/quants/mod.ts";
import { repackerOf } from "../../../kernels/webgpu/repacker.ts";
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
    const planes = repack(format, source, blocks);
    assertEquals(
      planes.map((plane) => plane.length),
      format.planes.map((plane) => blocks * plane.bytesPerBlock),
    );
    const before = source.slice();
    for (const offset of [1, 2, 3]) {
      const moved = new Uint8Array(offset + source.length + 7);
      moved.set(source, offset);
      assertEquals(repack(format, moved.subarray(offset), blocks), planes);
    }
    assertEquals(source, before);
  });

  Deno.test(`repack() of ${format.name} in pieces equals repack() of the whole`, () => {
    const source = randomBlocks(format, 7, format.ggmlType);
    const whole = repack(format, source, 7);
    const first = repack(format, source, 3);
    const second = repack(format, source.subarray(3 * format.blockBytes), 4);
    whole.forEach((plane, index) => {
      assertEquals(Uint8Array.from([...first[index], ...second[index]]), Uint8Array.from(plane));
    });
  });
}

for (const format of quantFormats) {
  Deno.test(`vectors repack ${format.name} as the plain loops do, in one piece and in several`, () => {
    const repacker = repackerOf(format);
    if (!repacker) {
      const source = randomBlocks(format, 3, 1);
      return assertEquals(repack(format, source, 3), [source]);
    }
    // The greatest piece is of some 256 KiB.
    const many = Math.ceil(600 * 1024 / format.blockBytes);
    for (const blocks of [1, 2, 3, 32, 33, many]) {
      const source = randomBlocks(format, blocks, blocks);
      const expected = repack(format, source, blocks);
      const actual = expected.map((plane) => new Uint8Array(plane.length + 4));
      let first = 0;
      for (const piece of repacker.pieces(source, blocks)) {
        piece.planes.forEach((words, i) => {
          const { bytesPerBlock } = format.planes[i]!;
          assertEquals(words.length % 4, 0);
          assert(words.subarray(piece.blocks * bytesPerBlock).every((byte) => byte === 0));
          actual[i]!.set(words, first * bytesPerBlock);
        });
        first += piece.blocks;
      }
      assertEquals(first, blocks);
      assertEquals(actual.map((plane, i) => plane.subarray(0, expected[i]!.length)), expected);
    }
  });
}
