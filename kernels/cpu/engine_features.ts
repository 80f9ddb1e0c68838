// Finds out which WebAssembly features beyond the standard the engine has, by trying what it
// accepts.
//
// V8 joins two neighbouring vectors of 128 bits into one of 256 on x86 with AVX2, if it was started
// with `--experimental-wasm-revectorize`. Only the speed shows that, so the flag is always passed
// together with `--experimental-wasm-fp16` (server/cli/setup/v8_flags.ts), whose instructions are
// either accepted or not.

import { f32x4, i32, ModuleBuilder } from "./wasm/mod.ts";

let acceptsHalves: boolean | undefined;

/** Whether the engine has an instruction that converts halves to floats. */
export function convertsHalves(): boolean {
  if (acceptsHalves !== undefined) return acceptsHalves;
  const module = new ModuleBuilder();
  const memory = module.importPrivateMemory("memory", 1);
  module.function("convert", {}, (f) => {
    const halves = memory.v128.load64_zero(i32.const(0));
    f.do(memory.v128.store(i32.const(0), f32x4.promote_low_f16x8(halves)));
  });
  return acceptsHalves = WebAssembly.validate(module.bytes());
}

/** Whether the engine joins neighbouring vectors, as far as that can be known. */
export function joinsVectors(): boolean {
  return convertsHalves();
}
