// The variable `loop` in loops. Defined by the list of special loop variables in Jinja's template
// designer documentation.

import {
  type Callable,
  isEqual,
  JinjaError,
  TemplateObject,
  Undefined,
  type Value,
} from "./values/values.ts";

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
