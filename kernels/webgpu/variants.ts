// The variants of a product: one for each class of token counts, bound once for each tile, and bound
// again when tuning has chosen another tile.

import type { Dispatch } from "./kernel.ts";
import { type Tile, tileName, tokenClass, tokenClasses } from "./tile.ts";

/** A product bound with one tile: a dispatch per part of the matrix. */
export interface Variant {
  readonly tile: Tile;
  readonly dispatches: readonly Dispatch[];
}

/** Makes the variants of a product. */
export interface VariantMaker {
  /** A version, which changes when choose() may give another result. Missing: it never does. */
  version?(): number;
  /** The tile for a number of tokens. */
  choose(tokens: number): Tile;
  bind(tile: Tile): readonly Dispatch[];
}

/** The variants of a product: one for each class of token counts, bound once for each tile. */
export class Variants {
  readonly #maker: VariantMaker;
  readonly #byTile = new Map<string, Variant>();
  #byClass: Variant[] = [];
  #version: number | undefined;

  constructor(maker: VariantMaker) {
    this.#maker = maker;
  }

  /** The variant for a number of tokens. */
  for(tokens: number): Variant {
    const version = this.#maker.version?.();
    if (version !== this.#version) {
      this.#byClass = [];
      this.#version = version;
    }
    return this.#byClass[tokenClass(tokens)] ??= this.#make(tokens);
  }

  /** Binds those for up to `most` tokens, from `least` on. */
  prepare(most: number, least = 1): void {
    for (const tokens of tokenClasses(most)) if (tokens >= least) this.for(tokens);
  }

  #make(tokens: number): Variant {
    const tile = this.#maker.choose(tokens);
    const name = tileName(tile);
    let variant = this.#byTile.get(name);
    if (!variant) this.#byTile.set(name, variant = { tile, dispatches: this.#maker.bind(tile) });
    return variant;
  }
}
