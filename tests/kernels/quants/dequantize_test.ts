// Holds the CPU references against values that llama.cpp decoded from the same blocks, and against
// blocks worked out by hand. The former are optional conformance data next to the project.

import { assert, assertEquals } from "@std/assert";
import { quantFormat, quantFormats } from "../../../kernels/quants/mod.ts";

const DATA = new URL("../../../../shared/data/models/dequantization/", import.meta.url);

function bytesOf(file: string): Uint8Array | undefined {
  try {
    return Deno.readFileSync(new URL(file, DATA));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

/** The conformance data have no blocks of these: a test of our own is below. */
const WITHOUT_DATA = ["F32", "F16", "Q1_0", "Q2_0"];

for (const format of quantFormats.filter(({ name }) => !WITHOUT_DATA.includes(name))) {
  const source = bytesOf(`${format.name}.blocks.bin`);
  const values = bytesOf(`${format.name}.values.f32`);
  Deno.test({
    name: `dequantize() of ${format.name} equals llama.cpp's values (where ../shared has them)`,
    ignore: source === undefined || values === undefined,
    fn() {
      assert(source !== undefined && values !== undefined);
      const expected = new Float32Array(values.buffer);
      const blocks = source.length / format.blockBytes;
      assertEquals(format.dequantize(source, blocks), expected);
    },
  });
}

Deno.test("dequantize() of the float formats reads little-endian numbers", () => {
  const cases: [number, number[]][] = [
    [0, [0x00, 0x00, 0xc0, 0xbf, 0x01, 0x00, 0x00, 0x00]],
    [1, [0x00, 0xbe, 0x01, 0x00]],
    [30, [0xc0, 0xbf, 0x01, 0x00]],
  ];
  const tiny = [2 ** -149, 2 ** -24, 2 ** -133];
  cases.forEach(([ggmlType, bytes], index) => {
    const weights = quantFormat(ggmlType)?.dequantize(Uint8Array.from(bytes), 2);
    assertEquals(weights, Float32Array.of(-1.5, tiny[index]));
  });
});

Deno.test("dequantize() of Q4_0 reads low nibbles first and subtracts 8", () => {
  const source = Uint8Array.from([0x00, 0x40, ...Array.from({ length: 16 }, (_, i) => 0xf0 | i)]);
  const expected = Float32Array.from({ length: 32 }, (_, i) => i < 16 ? 2 * (i - 8) : 14);
  assertEquals(quantFormat(2)?.dequantize(source, 1), expected);
});

Deno.test("dequantize() of Q1_0 reads low bits first and takes 0 for -1", () => {
  const source = Uint8Array.from([0x00, 0x40, 0x07, ...new Uint8Array(14), 0x80]);
  const expected = Float32Array.from({ length: 128 }, (_, i) => i < 3 || i === 127 ? 2 : -2);
  assertEquals(quantFormat(41)?.dequantize(source, 1), expected);
});

Deno.test("dequantize() of Q2_0 reads low bits first and subtracts 1", () => {
  const source = Uint8Array.from([0x00, 0x40, ...new Uint8Array(16).fill(0b11_10_01_00)]);
  const expected = Float32Array.from({ length: 64 }, (_, i) => 2 * (i % 4 - 1));
  assertEquals(quantFormat(42)?.dequantize(source, 1), expected);
});
