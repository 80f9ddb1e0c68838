// Kernels in modules: functions over items `first` to `last` of an operation. They read their
// arguments, words with names, from memory.

import type { FunctionBuilder, Local, Memory, ModuleBuilder } from "./wasm/mod.ts";

/** A kernel: computes items `first` to `last` of an operation, given the address of its arguments. */
export type Kernel = (record: number, first: number, last: number) => void;

/** Arguments of a kernel by their names, in variables. */
export type Arguments<Name extends string> = Readonly<Record<Name, Local<"i32">>>;

/** Adds `name(record, first, last)`; `build` receives the arguments at address `record`. */
export function addKernel<Name extends string>(
  module: ModuleBuilder,
  work: Memory,
  { name, takes }: { name: string; takes: readonly Name[] },
  build: (
    f: FunctionBuilder,
    given: Arguments<Name>,
    first: Local<"i32">,
    last: Local<"i32">,
  ) => void,
): void {
  const parameters = { record: "i32", first: "i32", last: "i32" } as const;
  module.function(name, parameters, (f, { record, first, last }) => {
    const given = takes.map((argument, i) => [argument, f.let(work.i32.load(record, 4 * i))]);
    build(f, Object.fromEntries(given) as Arguments<Name>, first, last);
  });
}

/** Values of arguments in the order that a kernel takes them. */
export function inOrder<Name extends string>(
  takes: readonly Name[],
  values: Readonly<Record<Name, number>>,
): number[] {
  return takes.map((argument) => values[argument]);
}

/** Adds code that runs `body` for each of the items. */
export function forItems(
  f: FunctionBuilder,
  first: Local<"i32">,
  last: Local<"i32">,
  body: (item: Local<"i32">) => void,
): void {
  const item = f.let(first);
  f.forUpTo(item, last, 1, () => body(item));
}
