// The scopes of a template's names: each iteration of a loop, macro call and captured block has
// names of its own, and sees those of the scopes around it.

import { countSteps } from "../../text/render_budget.ts";
import { ChainableUndefined, Undefined, type Value } from "./values/values.ts";

/** A scope of names. */
export class Scope {
  readonly #values: Map<string, Value>;
  readonly #parent: Scope | undefined;

  /** A scope within `parent`. */
  constructor(parent?: Scope, values: Map<string, Value> = new Map()) {
    this.#parent = parent;
    this.#values = values;
  }

  /** The value of a name; Undefined if no scope has it. */
  get(name: string): Value {
    const value = this.#values.get(name);
    if (value !== undefined) return value;
    // Deeply nested scopes make each lookup expensive.
    countSteps(0.125);
    return this.#parent ? this.#parent.get(name) : this.undefinedName(name);
  }

  /** The value of a name that no scope has. */
  protected undefinedName(name: string): Undefined {
    return new Undefined(`'${name}' is undefined`);
  }

  set(name: string, value: Value): void {
    this.#values.set(name, value);
  }
}

/** An outermost scope in which members of undefined names are undefined, too, instead of errors. */
export class ForgivingScope extends Scope {
  protected override undefinedName(name: string): Undefined {
    return new ChainableUndefined(`'${name}' is undefined`);
  }
}
