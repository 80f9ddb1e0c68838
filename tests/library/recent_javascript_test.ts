// What the bundle provides to older engines, beside the real thing.

import { assertEquals, assertThrows } from "@std/assert";
import {
  escapePattern,
  fromBase64,
  halfBits,
  halfValue,
  Halves,
  Stack,
  toHex,
} from "../../library/recent_javascript.ts";

Deno.test("halves have the values and bits of the real ones", () => {
  const view = new DataView(new ArrayBuffer(2));
  const values: number[] = [];
  for (let bits = 0; bits < 2 ** 16; bits++) {
    view.setUint16(0, bits);
    const value = view.getFloat16(0);
    assertEquals(halfValue(bits), value);
    values.push(value);
  }
  // Between two halves lies what is rounded, to the even one of them from the middle.
  for (let bits = 0; bits < 0x7c00; bits++) {
    const [low, high] = [values[bits]!, bits === 0x7bff ? 65_536 : values[bits + 1]!];
    const middle = (low + high) / 2;
    for (const value of [low, middle, middle * (1 - 2 ** -52), middle * (1 + 2 ** -52), -middle]) {
      view.setFloat16(0, value);
      const [expected, bits] = [view.getUint16(0), halfBits(value)];
      if (bits !== expected) assertEquals(bits, expected, `${value}`);
    }
  }
  for (const value of [0, -0, Infinity, -Infinity, 1e300, 2 ** -25, 2 ** -1060]) {
    view.setFloat16(0, value);
    assertEquals(halfBits(value), view.getUint16(0));
  }
  assertEquals(Number.isNaN(halfValue(halfBits(NaN))), true);
});

Deno.test("an array of halves has the bytes and numbers of the real one", () => {
  const values = [1, -2.5, 1e-5, 70_000, 0.1];
  const [made, real] = [Halves.from(values), Float16Array.from(values)];
  assertEquals(new Uint8Array(made.buffer), new Uint8Array(real.buffer));
  assertEquals([...new Halves(real.buffer, 2, 3)], [...real.subarray(1, 4)]);
  assertEquals(new Float32Array(made), new Float32Array(real));
});

Deno.test("a stack disposes of its resources, the last first, unless they were moved", () => {
  const gone: number[] = [];
  const resource = (number: number) => ({ [Symbol.dispose]: () => void gone.push(number) });
  {
    using stack = new Stack();
    for (const number of [1, 2]) stack.use(resource(number));
    stack.use(undefined);
  }
  assertEquals(gone, [2, 1]);
  {
    using stack = new Stack();
    stack.use(resource(3));
    stack.move();
  }
  assertEquals(gone, [2, 1]);
  const failing = new Stack();
  failing.use(resource(4));
  failing.use({
    [Symbol.dispose]() {
      throw new RangeError("stuck");
    },
  });
  assertThrows(() => failing[Symbol.dispose](), RangeError);
  assertEquals(gone, [2, 1, 4]);
});

Deno.test("escaped texts match themselves, in every kind of pattern", () => {
  const ascii = Array.from({ length: 128 }, (_, code) => String.fromCharCode(code));
  for (const text of [...ascii, "a.b", "\\c", "<|tool|>", "9{2}", "é—𝄞", ascii.join("")]) {
    for (const flags of ["", "u", "v"]) {
      const pattern = new RegExp(`^(?:${escapePattern(text)})$`, flags);
      assertEquals([pattern.test(text), pattern.test(`${text}x`)], [true, false], text);
    }
  }
  assertEquals(new RegExp(`^\\c${escapePattern("A")}$`).test("\\cA"), true);
});

Deno.test("hex and Base64 are the real ones", () => {
  const bytes = Uint8Array.from({ length: 256 }, (_, byte) => byte);
  assertEquals(toHex(bytes), bytes.toHex());
  assertEquals(fromBase64(bytes.toBase64()), bytes);
  assertThrows(() => fromBase64("?"), SyntaxError);
});
