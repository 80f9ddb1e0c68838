// The scopes of a template's names: each iteration of a loop, macro call and captured block has
// names of its own, and sees those of the scopes around it.

import { countSteps } from "../../text/render_budget.ts";
import {
  type Callable,
  ChainableUndefined,
  isEqual,
  JinjaError,
  TemplateObject,
  Undefined,
  type Value,
} from "./values/values.ts";

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

/**
 * The variable `loop` in loops. Defined by the list of special loop variables in Jinja's template
 * designer documentation.
 */
export class LoopState extends TemplateObject {
  readonly #items: readonly Value[];
  readonly #depth: number;
  #index = -1;
  #last: readonly Value[] | undefined;

  /**
   * A loop over `items`; `depth` counts recursive loops from 0.
   * @param visitChildren the function of calling `loop`: the same loop over other items
   */
  constructor(items: readonly Value[], depth: number, readonly visitChildren: Callable) {
    super();
    this.#items = items;
    this.#depth = depth;
  }

  /** Moves to the item at `index`. */
  moveTo(index: number): void {
    this.#index = index;
  }

  override attribute(name: string): Value | undefined {
    const [index, length] = [this.#index, this.#items.length];
    switch (name) {
      case "index":
        return index + 1;
      case "index0":
        return index;
      case "revindex":
        return length - index;
      case "revindex0":
        return length - index - 1;
      case "first":
        return index === 0;
      case "last":
        return index === length - 1;
      case "length":
        return length;
      case "depth":
        return this.#depth + 1;
      case "depth0":
        return this.#depth;
      case "previtem":
        return this.#itemAt(index - 1);
      case "nextitem":
        return this.#itemAt(index + 1);
      case "cycle":
        return this.#cycle;
      case "changed":
        return this.#changed;
      default:
        return undefined;
    }
  }

  #itemAt(index: number): Value {
    const item = this.#items[index];
    return item === undefined ? new Undefined("the loop has no such item") : item;
  }

  readonly #cycle: Callable = ({ positional }) => {
    if (positional.length === 0) throw new JinjaError("no items for cycling given");
    return positional[this.#index % positional.length]!;
  };

  readonly #changed: Callable = ({ positional }) => {
    const last = this.#last;
    this.#last = positional;
    return !last || last.length !== positional.length ||
      last.some((value, i) => !isEqual(value, positional[i]!));
  };
}
