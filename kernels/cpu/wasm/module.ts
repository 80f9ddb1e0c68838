// A module: the memories that it imports and the functions that it exports. WebAssembly.compile
// checks its bytes. There are no tables or globals.

import {
  type Code,
  flat,
  IMPORTS,
  name as encodeName,
  section,
  sized,
  typeCode,
  unsigned,
  type ValueType,
  vector,
} from "./encoding.ts";
import { constI32, type Expression } from "./expression.ts";
import { FunctionBuilder, type Local, localAt } from "./function.ts";
import { Memory } from "./memory.ts";

/** Pages of 64 KiB that one memory may have: 4 GiB. */
const MAXIMUM_PAGES = 65536;

/**
 * Pages that it has at least. An offset below that is known to be within the memory, so that an
 * engine which checks bounds in code (Deno 2.9.6 does) has one comparison per access, not two.
 */
const MINIMUM_PAGES = 1;

/** Names and types of a function's parameters, in order. */
type Parameters = Record<string, ValueType>;

type LocalsOf<P extends Parameters> = { readonly [Name in keyof P]: Local<P[Name]> };

/** Collects memories and functions, and makes a module of them. */
export class ModuleBuilder {
  readonly #imports: Code[] = [];
  readonly #data: Code[] = [];
  readonly #functions: { name: string; type: Code; body: Code }[] = [];

  /** Imports a shared memory of up to 4 GiB under a name. */
  importMemory(name: string): Memory {
    const limits = [0x03, unsigned(MINIMUM_PAGES), unsigned(MAXIMUM_PAGES)]; // Shared, bounded.
    this.#imports.push([encodeName(IMPORTS), encodeName(name), 0x02, limits]);
    return new Memory(this.#imports.length - 1);
  }

  /** Imports a thread's own memory of exactly this size, so that constant addresses need no checks. */
  importPrivateMemory(name: string, pages: number): Memory {
    const limits = [0x01, unsigned(pages), unsigned(pages)];
    this.#imports.push([encodeName(IMPORTS), encodeName(name), 0x02, limits]);
    return new Memory(this.#imports.length - 1);
  }

  /** Has bytes written into a memory when the module is instantiated. */
  data(memory: Memory, address: number, bytes: ArrayLike<number>): void {
    const place = [constI32(address).code, 0x0b];
    this.#data.push([0x02, unsigned(memory.index), place, sized(Uint8Array.from(bytes))]);
  }

  /** Adds an exported function; `build` writes its body and returns the expression of its result. */
  function<P extends Parameters>(
    name: string,
    parameters: P,
    build: (f: FunctionBuilder, locals: LocalsOf<P>) => Expression | void,
  ): void {
    const entries = Object.entries(parameters);
    const locals = Object.fromEntries(
      entries.map(([name, type], index) => [name, localAt(type, index)]),
    ) as LocalsOf<P>;
    const builder = new FunctionBuilder(entries.length);
    const result = build(builder, locals) ?? undefined;
    const type = [
      0x60,
      vector(entries.map(([, type]) => typeCode(type))),
      vector(result ? [typeCode(result.type)] : []),
    ];
    this.#functions.push({ name, type, body: builder.finish(result) });
  }

  /** The module's bytes. */
  bytes(): Uint8Array<ArrayBuffer> {
    const functions = this.#functions;
    return flat([
      [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00], // "\0asm", version 1.
      section(1, functions.map(({ type }) => type)),
      section(2, this.#imports),
      section(3, functions.map((_, index) => unsigned(index))),
      section(7, functions.map(({ name }, index) => [encodeName(name), 0, unsigned(index)])),
      section(10, functions.map(({ body }) => sized(body))),
      section(11, this.#data),
    ]);
  }
}
