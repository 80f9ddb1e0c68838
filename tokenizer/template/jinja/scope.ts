// Where a template's names live: each loop pass, macro call and captured block has its own names
// and sees those around it.

import { countSteps } from "../../text/render_budget.ts";
import { ChainableUndefined, Undefined, type Value } from "./values/values.ts";

/** Names within names. */
export class Scope {
  readonly #values: Map<string, Value>;
  readonly #parent: Scope | undefined;

  /** A scope within `parent`, with names of its own. */
  constructor(parent?: Scope, values: Map<string, Value> = new Map()) {
    this.#parent = parent;
    this.#values = values;
  }

  /** The value of a name; Undefined where no scope around has it. */
  get(name: string): Value {
    const value = this.#values.get(name);
    if (value !== undefined) return value;
    // Scopes that nest deeply make each name expensive.
    countSteps(0.125);
    return this.#parent ? this.#parent.get(name) : this.undefinedName(name);
  }

  /** What a name is that no scope has. */
  protected undefinedName(name: string): Undefined {
    return new Undefined(`'${name}' is undefined`);
  }

  /** Sets a name in this scope. */
  set(name: string, value: Value): void {
    this.#values.set(name, value);
  }
}

/** An outermost scope whose unknown names have members as unknown as they are. */
export class ForgivingScope extends Scope {
  protected override undefinedName(name: string): Undefined {
    return new ChainableUndefined(`'${name}' is undefined`);
  }
}
