// Factors that are halves, read as floats: every half there is, also the subnormal ones.

import { assert, assertEquals } from "@std/assert";
import { halfScales, NO_NUMBER } from "../../../kernels/cpu/formats/scales.ts";
import { i32, ModuleBuilder } from "../../../kernels/cpu/wasm/mod.ts";

/** The floats of eight halves at a time, as a band's head has them. */
function converted(halves: Uint16Array, joins: boolean): Float32Array {
  const module = new ModuleBuilder();
  const memory = module.importMemory("work");
  const results = 2 * halves.length;
  module.function("convert", {}, (f) => {
    const from = f.let(i32.const(0));
    f.forUpTo(from, results, 16, () => {
      const quads = halfScales(0).loadHead(f, { memory, address: from }, joins);
      const to = f.let(i32.add(i32.mul(from, 2), results));
      quads.forEach((quad, i) => f.do(memory.v128.store(to, quad, 16 * i)));
    });
  });
  const work = new WebAssembly.Memory({ initial: 8, maximum: 65536, shared: true });
  new Uint16Array(work.buffer, 0, halves.length).set(halves);
  const instance = new WebAssembly.Instance(new WebAssembly.Module(module.bytes()), {
    quern: { work },
  });
  (instance.exports.convert as () => void)();
  return new Float32Array(work.buffer.slice(results, results + 4 * halves.length));
}

Deno.test("every half that a format may have as a factor becomes the same float, joined or not", () => {
  const halves = Uint16Array.from(
    { length: 65536 },
    (_, half) => (half & 0x7c00) === 0x7c00 ? NO_NUMBER : half,
  );
  for (const joins of [false, true]) {
    const floats = converted(halves, joins);
    for (const [i, half] of halves.entries()) {
      const [exponent, mantissa] = [half >> 10 & 31, half & 1023];
      const magnitude = exponent === 0
        ? mantissa * 2 ** -24
        : (1024 + mantissa) * 2 ** (exponent - 25);
      const expected = half === NO_NUMBER ? NaN : half >> 15 ? -magnitude : magnitude;
      assert(Object.is(floats[i], expected), `${half}: ${floats[i]}, not ${expected}`);
    }
    assertEquals(floats.length, 65536);
  }
});
