// A kernel for tests of what runs kernels.

import { WORK } from "../../../kernels/cpu/instances.ts";
import { i32, ModuleBuilder } from "../../../kernels/cpu/wasm/mod.ts";

/** The module of `add`, which adds a number to each item. Its arguments are the address of items, and the number. */
export function adder(): Uint8Array<ArrayBuffer> {
  const module = new ModuleBuilder();
  const memory = module.importMemory(WORK);
  const parameters = { record: "i32", first: "i32", last: "i32" } as const;
  module.function("add", parameters, (f, { record, first, last }) => {
    const items = f.let(memory.i32.load(record));
    const item = f.let(first);
    f.forUpTo(item, last, 1, () => {
      const at = f.let(i32.add(items, i32.mul(item, 4)));
      const sum = i32.add(memory.i32.load(at), memory.i32.load(record, 4));
      f.do(memory.i32.store(at, sum));
    });
  });
  return module.bytes();
}
