// What JavaScript has since 2025, as far as the library uses it, for engines from before, such as that of
// Node 22. Where there is the real thing, it stays.

/** The bits of a number as a half (IEEE 754 binary16): the nearest, of two the even one. */
export function halfBits(value: number): number {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  const high = view.getUint32(0);
  const sign = (high >>> 16) & 0x8000;
  if (Number.isNaN(value)) return 0x7e00;
  // Below 2^-14 all halves are multiples of 2^-24.
  const exponent = Math.max(-14, ((high >>> 20) & 0x7ff) - 1023);
  if (exponent > 15) return sign | 0x7c00;
  const units = Math.abs(value) * 2 ** (10 - exponent);
  const below = Math.floor(units);
  const rest = units - below;
  const isUp = rest > 0.5 || rest === 0.5 && below % 2 === 1;
  // A mantissa that is rounded up to 2048 carries into the exponent, and the greatest one to infinity.
  return sign | ((exponent + 14) << 10) + below + (isUp ? 1 : 0);
}

/** The number of a half. */
export function halfValue(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const [exponent, mantissa] = [(bits >>> 10) & 0x1f, bits & 0x3ff];
  if (exponent === 0x1f) return mantissa ? NaN : sign * Infinity;
  return sign * (exponent ? mantissa + 1024 : mantissa) * 2 ** (Math.max(1, exponent) - 25);
}

/** An array of halves that can be made and read from its beginning to its end, but has no indices. */
export class Halves implements Iterable<number> {
  readonly #bits: Uint16Array;

  constructor(source: ArrayBufferLike | number, offset?: number, length?: number) {
    this.#bits = typeof source === "number"
      ? new Uint16Array(source)
      : new Uint16Array(source, offset, length);
  }

  static from(values: ArrayLike<number>): Halves {
    const halves = new Halves(values.length);
    halves.set(values);
    return halves;
  }

  get buffer(): ArrayBufferLike {
    return this.#bits.buffer;
  }

  set(values: ArrayLike<number>): void {
    for (let i = 0; i < values.length; i++) this.#bits[i] = halfBits(values[i]!);
  }

  *[Symbol.iterator](): Iterator<number> {
    for (const bits of this.#bits) yield halfValue(bits);
  }
}

/** Resources that are disposed of together, the last one first. */
export class Stack implements Disposable {
  readonly #resources: (Disposable | null | undefined)[] = [];

  use<Resource extends Disposable | null | undefined>(resource: Resource): Resource {
    this.#resources.push(resource);
    return resource;
  }

  move(): Stack {
    const stack = new Stack();
    stack.#resources.push(...this.#resources.splice(0));
    return stack;
  }

  [Symbol.dispose](): void {
    const errors: unknown[] = [];
    for (const resource of this.#resources.splice(0).reverse()) {
      try {
        resource?.[Symbol.dispose]();
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw errors[0];
  }
}

/** Bytes in hex. */
export function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The bytes of a text in Base64. Errors: SyntaxError. */
export function fromBase64(text: string): Uint8Array {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    throw new SyntaxError("The text is not Base64");
  }
}

/** A text as a pattern that matches it alone. */
export function escapePattern(text: string): string {
  // The first letter too, since it could belong to what stands before, such as "\\c".
  return text.replaceAll(/^[0-9A-Za-z]|[^\w\x80-\u{10ffff}]/gu, (character) => {
    if ("^$\\.*+?()[]{}|/".includes(character)) return `\\${character}`;
    return `\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`;
  });
}

/** Puts members on an object where it lacks them. */
function provide(target: object, members: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(members)) {
    if (name in target) continue;
    Object.defineProperty(target, name, { value, configurable: true, writable: true });
  }
}

provide(globalThis, { DisposableStack: Stack, Float16Array: Halves });
provide(Math, { f16round: (value: number) => halfValue(halfBits(value)) });
provide(DataView.prototype, {
  getFloat16(this: DataView, offset: number, isLittleEndian?: boolean): number {
    return halfValue(this.getUint16(offset, isLittleEndian));
  },
  setFloat16(this: DataView, offset: number, value: number, isLittleEndian?: boolean): void {
    this.setUint16(offset, halfBits(value), isLittleEndian);
  },
});
provide(Promise, {
  try: async <Result>(work: () => Result | Promise<Result>): Promise<Result> => await work(),
});
provide(RegExp, { escape: escapePattern });
provide(Uint8Array, { fromBase64 });
provide(Uint8Array.prototype, {
  toHex(this: Uint8Array): string {
    return toHex(this);
  },
});
