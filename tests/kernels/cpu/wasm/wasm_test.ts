// The assembler: its numbers against the specification's examples, every instruction through
// WebAssembly's own check, and functions that are run.

import { assertEquals, assertThrows } from "@std/assert";
import { signed, unsigned } from "../../../../kernels/cpu/wasm/encoding.ts";
import { convertsHalves } from "../../../../kernels/cpu/engine_features.ts";
import {
  type Expression,
  f32,
  f32x4,
  f64,
  i16x8,
  i32,
  i32x4,
  i64,
  i8x16,
  IMPORTS,
  type Memory,
  ModuleBuilder,
  shuffleLanes,
  type Statement,
  type V128,
  v128,
} from "../../../../kernels/cpu/wasm/mod.ts";

// deno-lint-ignore no-explicit-any
type Exports = Record<string, (...parameters: any[]) => number>;

function instantiate(module: ModuleBuilder, memories: Record<string, WebAssembly.Memory> = {}) {
  const compiled = new WebAssembly.Module(module.bytes());
  return new WebAssembly.Instance(compiled, { [IMPORTS]: memories }).exports as unknown as Exports;
}

function sharedMemory(): WebAssembly.Memory {
  return new WebAssembly.Memory({ initial: 1, maximum: 65536, shared: true });
}

Deno.test("numbers are encoded as LEB128", () => {
  assertEquals(unsigned(0), [0]);
  assertEquals(unsigned(127), [127]);
  assertEquals(unsigned(128), [0x80, 1]);
  assertEquals(unsigned(624485), [0xe5, 0x8e, 0x26]);
  assertEquals(unsigned(2 ** 32 - 1), [0xff, 0xff, 0xff, 0xff, 0x0f]);
  assertEquals(signed(-1), [0x7f]);
  assertEquals(signed(63), [63]);
  assertEquals(signed(64), [0xc0, 0]);
  assertEquals(signed(-64), [0x40]);
  assertEquals(signed(-123456), [0xc0, 0xbb, 0x78]);
  assertEquals(signed(-(2 ** 31)), [0x80, 0x80, 0x80, 0x80, 0x78]);
});

/** What an instruction of a namespace can be given. */
const OPERANDS = {
  i32: i32.const(1),
  i64: i64.extend_i32_u(i32.const(1)),
  f32: f32.const(1),
  f64: f64.promote_f32(f32.const(1)),
  v128: v128.const(new Uint8Array(16)),
};

Deno.test("every instruction is one that WebAssembly knows, with operands of its types", () => {
  const special: Record<string, (vector: V128) => Expression> = {
    "v128.const": (vector) => vector,
    "i8x16.shuffle": (vector) => i8x16.shuffle(vector, vector, new Array(16).fill(31)),
    "i32x4.extract_lane": (vector) => i32x4.extract_lane(vector, 3),
    "f32x4.extract_lane": (vector) => f32x4.extract_lane(vector, 3),
    "i32.const": () => i32.const(-5),
    "i64.const": () => i64.const(-5n),
    "f32.const": () => f32.const(0.5),
    "f64.const": () => f64.const(0.5),
  };
  const operandOf = (namespace: string, name: string): Expression => {
    if (/splat/.test(name)) return /^f32/.test(namespace) ? OPERANDS.f32 : OPERANDS.i32;
    const from = /_([if](?:32|64))(?:_[su])?$/.exec(name)?.[1] ?? namespace;
    return OPERANDS[from as keyof typeof OPERANDS] ?? OPERANDS.v128;
  };
  const namespaces = { i32, i64, f32, f64, v128, i8x16, i16x8, i32x4, f32x4 };
  let count = 0;
  for (const [namespace, instructions] of Object.entries(namespaces)) {
    for (const [name, instruction] of Object.entries(instructions)) {
      const operand = operandOf(namespace, name);
      const shift = /^sh[lr]/.test(name) && namespace !== "i64";
      const operands = [operand, shift ? OPERANDS.i32 : operand, operand];
      const make = special[`${namespace}.${name}`] as ((vector: V128) => Expression) | undefined;
      const module = new ModuleBuilder();
      module.function("run", {}, (f) => {
        const call = instruction as (...operands: Expression[]) => Expression;
        f.let(make ? make(OPERANDS.v128) : call(...operands));
      });
      // Of the proposal for half precision, which engines have to be told to accept.
      if (name === "promote_low_f16x8" && !convertsHalves()) continue;
      assertEquals([namespace, name, WebAssembly.validate(module.bytes())], [
        namespace,
        name,
        true,
      ]);
      count++;
    }
  }
  assertEquals(count > 100, true);
});

Deno.test("every access is one that WebAssembly knows, in the first memory and in the second", () => {
  const module = new ModuleBuilder();
  for (const memory of [module.importMemory("a"), module.importMemory("b")]) {
    const { v128: vectors, i32: integers, f32: floats } = memory;
    const vector = OPERANDS.v128;
    module.function(`run${memory.index}`, {}, (f) => {
      const { load16_lane, load32_lane, load64_lane, store, store64_lane, ...loads } = vectors;
      for (const load of Object.values(loads)) f.let(load(16, 8));
      f.let(load16_lane(16, vector, 7, 8));
      f.let(load32_lane(16, vector, 3, 8));
      f.let(load64_lane(16, vector, 1, 8));
      f.do(store(16, vector), store64_lane(16, vector, 1, 300));
      const { store: store32, store8, store16, atomic, ...integerLoads } = integers;
      for (const load of Object.values(integerLoads)) f.let(load(16));
      f.do(store32(16, 1), store8(16, 1), store16(16, 1), floats.store(16, 1));
      f.let(floats.load(16));
      f.let(atomic.load(16));
      f.let(atomic.rmw_add(16, 5));
    });
  }
  instantiate(module, { a: sharedMemory(), b: sharedMemory() }).run1!();
});

Deno.test("a module writes its data when it is instantiated", () => {
  const module = new ModuleBuilder();
  module.importMemory("a");
  const own = module.importPrivateMemory("b", 2);
  module.data(own, 70_000, [1, 2, 255]);
  module.data(own, 5, new Int8Array([-3]));
  const b = new WebAssembly.Memory({ initial: 2, maximum: 2 });
  instantiate(module, { a: sharedMemory(), b });
  const bytes = new Uint8Array(b.buffer);
  assertEquals([...bytes.subarray(69_999, 70_004)], [0, 1, 2, 255, 0]);
  assertEquals(bytes[5], 253);
});

Deno.test("blocks, loops and variables do what they say", () => {
  const module = new ModuleBuilder();
  module.function("triangle", { n: "i32" }, (f, { n }) => {
    const sum = f.local("i32");
    const i = f.local("i32");
    f.forUpTo(i, n, 1, () => f.increase(sum, i));
    return sum;
  });
  module.function("sign", { x: "f32" }, (f, { x }) => {
    const result = f.local("i32");
    f.if(f32.lt(x, 0), () => f.set(result, -1), () => f.if(f32.gt(x, 0), () => f.set(result, 1)));
    return result;
  });
  const { triangle, sign } = instantiate(module);
  assertEquals([0, 1, 100].map((n) => triangle!(n)), [0, 0, 4950]);
  assertEquals([-2, 0, 3].map((x) => sign!(x)), [-1, 0, 1]);
});

Deno.test("memories are separate, and constants are what they are in 32 bits", () => {
  const module = new ModuleBuilder();
  const [a, b] = [module.importMemory("a"), module.importMemory("b")];
  const copy = (from: Memory, to: Memory, at: number): Statement =>
    to.v128.store(at, shuffleLanes(from.v128.load(at), from.v128.load(at), [3, 2, 1, 0]));
  module.function("run", {}, (f) => f.do(a.i32.store(64, 0xfffffffe), copy(a, b, 64)));
  const [first, second] = [sharedMemory(), sharedMemory()];
  instantiate(module, { a: first, b: second }).run!();
  assertEquals([...new Int32Array(first.buffer, 64, 4)], [-2, 0, 0, 0]);
  assertEquals([...new Int32Array(second.buffer, 64, 4)], [0, 0, 0, -2]);
});

Deno.test("a body that WebAssembly would refuse is refused by its check", () => {
  const module = new ModuleBuilder();
  module.function("run", {}, (f) => {
    f.let({ type: "i32", code: OPERANDS.f32.code } as Expression<"i32">);
  });
  assertThrows(() => new WebAssembly.Module(module.bytes()), WebAssembly.CompileError);
});
