// A number in JSON before its first digit: empty, or with its sign.

import type { HalfLine } from "./half_line.ts";
import { Mantissa } from "./mantissa.ts";
import type { Reading } from "./exponent.ts";

/** A number without digits so far. */
export class Beginning implements Reading {
  readonly #half: HalfLine;
  readonly #negative: HalfLine | undefined;
  readonly #plain: boolean;
  readonly key: string;
  readonly accepts = false;
  readonly shortest: number;

  /** @param negative the numbers that may follow a sign; undefined after a sign */
  constructor(half: HalfLine, negative: HalfLine | undefined, plain: boolean) {
    this.#half = half;
    this.#negative = negative;
    this.#plain = plain;
    this.key = negative === undefined ? "sign" : "start";
    const next = Array.from("0123456789-", (character) => this.next(character));
    this.shortest = 1 + Math.min(...next.map((reading) => reading?.shortest ?? Infinity));
  }

  get isLive(): boolean {
    return this.shortest < Infinity;
  }

  next(character: string): Reading | undefined {
    if (character >= "0" && character <= "9") {
      return Mantissa.begin(this.#half, this.#plain, Number(character));
    }
    if (character !== "-" || this.#negative === undefined) return undefined;
    return new Beginning(this.#negative, undefined, this.#plain);
  }
}
