// The body of a function: its locals, and its statements one after the other. Blocks are callbacks,
// so that a kernel reads as the loops that it runs; loops over constants are written in TypeScript
// and unroll.

import { type Code, CodeWriter, typeCode, unsigned, type ValueType, vector } from "./encoding.ts";
import {
  type Expression,
  expressionOf,
  type I32,
  type Operand,
  type Statement,
} from "./expression.ts";
import { i32, v128 } from "./instructions.ts";

/** A variable of a function; as an expression it is its value. */
export interface Local<T extends ValueType = ValueType> extends Expression<T> {
  readonly index: number;
}

/** Block type of blocks that take and leave nothing. */
const EMPTY = 0x40;

/** Collects the code of a function. */
export class FunctionBuilder {
  readonly #parameters: number;
  readonly #locals: ValueType[] = [];
  readonly #constants = new Map<string, Local<"v128">>();
  readonly #prologue: Code[] = [];
  readonly #code = new CodeWriter();

  /** @param parameters number of parameters, which are the first locals */
  constructor(parameters: number) {
    this.#parameters = parameters;
  }

  /** A new variable, zero until it is set. */
  local<T extends ValueType>(type: T): Local<T> {
    const index = this.#parameters + this.#locals.length;
    this.#locals.push(type);
    return localAt(type, index);
  }

  /** A new variable with a first value. */
  let<T extends ValueType>(value: Expression<T>): Local<T> {
    const local = this.local(value.type);
    this.#add(value.code, 0x21, unsigned(local.index));
    return local;
  }

  /**
   * A constant vector that is computed once, where the function begins: engines would compute it
   * wherever it is used, also within loops.
   */
  constant(bytes: ArrayLike<number>): Local<"v128"> {
    const key = Uint8Array.from(bytes).join();
    let local = this.#constants.get(key);
    if (!local) {
      local = this.local("v128");
      this.#constants.set(key, local);
      this.#prologue.push(v128.const(bytes).code, 0x21, unsigned(local.index));
    }
    return local;
  }

  /** Gives a variable a value. */
  set<T extends ValueType>(local: Local<T>, value: Operand<T>): void {
    const { code } = expressionOf(local.type, value as Expression<T>);
    this.#add(code, 0x21, unsigned(local.index));
  }

  /** Adds to an integer: moves a pointer, counts. */
  increase(local: Local<"i32">, by: I32): void {
    this.set(local, i32.add(local, by));
  }

  /** Statements: stores. */
  do(...statements: readonly Statement[]): void {
    for (const { code } of statements) this.#add(code);
  }

  /** Runs `then` where the condition is not zero, `otherwise` where it is. */
  if(condition: Expression<"i32">, then: () => void, otherwise?: () => void): void {
    this.#add(condition.code, 0x04, EMPTY);
    then();
    if (otherwise) {
      this.#add(0x05);
      otherwise();
    }
    this.#add(0x0b);
  }

  /** Runs `body` as long as the condition holds, which may be never. */
  while(condition: Expression<"i32">, body: () => void): void {
    this.if(condition, () => this.doWhile(body, condition));
  }

  /** Runs `body` once, and again as long as the condition holds after it. */
  doWhile(body: () => void, condition: Expression<"i32">): void {
    this.#add(0x03, EMPTY);
    body();
    this.#add(condition.code, 0x0d, 0x00, 0x0b); // br_if to the loop's beginning, end.
  }

  /** Runs `body` for a variable from its present value up to a bound, in steps. */
  forUpTo(variable: Local<"i32">, bound: I32, step: I32, body: () => void): void {
    this.while(i32.lt_u(variable, bound), () => {
      body();
      this.increase(variable, step);
    });
  }

  /** The function's code with its locals, and the value that it returns, if any. */
  finish(result?: Expression): Code {
    if (result) this.#add(result.code);
    const runs: { type: ValueType; count: number }[] = [];
    for (const type of this.#locals) {
      const last = runs.at(-1);
      if (last?.type === type) last.count++;
      else runs.push({ type, count: 1 });
    }
    const locals = runs.map(({ type, count }) => [unsigned(count), typeCode(type)]);
    return [vector(locals), this.#prologue, this.#code.bytes, 0x0b];
  }

  #add(...parts: readonly Code[]): void {
    this.#code.add(parts);
  }
}

export function localAt<T extends ValueType>(type: T, index: number): Local<T> {
  return { type, index, code: [0x20, unsigned(index)] };
}
