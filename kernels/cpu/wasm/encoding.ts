// The binary encoding of WebAssembly's parts: numbers (LEB128), names, vectors and sections.
// https://webassembly.github.io/spec/core/binary

/**
 * Bytes of a module, or of a part of one, as a tree: what is put together is not copied each time, but
 * once, where a function ends (flat).
 */
export type Code = number | Uint8Array | readonly Code[];

/** Where an import is found: WebAssembly.instantiate(module, { [IMPORTS]: { ...memories } }). */
export const IMPORTS = "quern";

export type ValueType = "i32" | "i64" | "f32" | "f64" | "v128";

const TYPE_CODES: Record<ValueType, number> = {
  i32: 0x7f,
  i64: 0x7e,
  f32: 0x7d,
  f64: 0x7c,
  v128: 0x7b,
};

/** The byte that stands for a type. */
export function typeCode(type: ValueType): number {
  return TYPE_CODES[type];
}

/** An unsigned integer below 2^53, as LEB128. */
export function unsigned(value: number): readonly number[] {
  if (value < 128) return [value];
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push(rest % 128 + 128);
  return [...bytes, rest];
}

/** A signed integer of up to 64 bits, as LEB128. */
export function signed(value: number | bigint): readonly number[] {
  const bytes: number[] = [];
  if (typeof value === "number" && value === (value | 0)) {
    for (let rest = value;; rest >>= 7) {
      if (rest >= -64 && rest < 64) return [...bytes, rest & 127];
      bytes.push(rest & 127 | 128);
    }
  }
  for (let rest = BigInt(value);;) {
    const low = Number(rest & 127n);
    rest >>= 7n;
    const isLast = (rest === 0n && low < 64) || (rest === -1n && low >= 64);
    bytes.push(isLast ? low : low | 128);
    if (isLast) return bytes;
  }
}

/** The four bytes of a float. */
export function float32(value: number): Code {
  return new Uint8Array(Float32Array.of(value).buffer);
}

/** The eight bytes of a double. */
export function float64(value: number): Code {
  return new Uint8Array(Float64Array.of(value).buffer);
}

/** A vector: how many elements there are, and the elements. */
export function vector(elements: readonly Code[]): Code {
  return [unsigned(elements.length), elements];
}

/** A text as UTF-8 with its length. */
export function name(text: string): Code {
  return sized(new TextEncoder().encode(text));
}

/** Bytes with their length in front, as sections and function bodies have it. */
export function sized(code: Code): Code {
  const bytes = flat(code);
  return [unsigned(bytes.length), bytes];
}

/** A section of a module; no bytes if it would be empty. */
export function section(id: number, elements: readonly Code[]): Code {
  return elements.length === 0 ? [] : [id, sized(vector(elements))];
}

/** The bytes of a tree of code. */
export function flat(code: Code): Uint8Array<ArrayBuffer> {
  const writer = new CodeWriter();
  writer.add(code);
  return writer.bytes;
}

/** Collects bytes. */
export class CodeWriter {
  #bytes = new Uint8Array(4096);
  #length = 0;

  /** The bytes so far, valid until more are added. */
  get bytes(): Uint8Array<ArrayBuffer> {
    return this.#bytes.subarray(0, this.#length);
  }

  /** Adds code at the end. */
  add(code: Code): void {
    if (typeof code === "number") {
      this.#reserve(1);
      this.#bytes[this.#length++] = code;
    } else if (code instanceof Uint8Array) {
      this.#reserve(code.length);
      this.#bytes.set(code, this.#length);
      this.#length += code.length;
    } else {
      for (let i = 0; i < code.length; i++) this.add(code[i]!);
    }
  }

  #reserve(bytes: number): void {
    const needed = this.#length + bytes;
    if (needed <= this.#bytes.length) return;
    const larger = new Uint8Array(Math.max(needed, 2 * this.#bytes.length));
    larger.set(this.bytes);
    this.#bytes = larger;
  }
}
