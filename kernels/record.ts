// Packed records: a few values in words of 32 bits, one record after another in a buffer that the
// host writes and kernels read. A record is described once, by its fields in order. From that
// follow packing and reading in TypeScript, offsets for kernels in WebAssembly, and the struct for
// kernels in WGSL (webgpu/snippets.ts).

/** The type of a field: one word, or two for "u64". */
export type FieldType = "u32" | "f32" | "u64";

export type FieldValue<Type extends FieldType> = Type extends "u64" ? bigint : number;

/** Fields by name, in order. */
export type Fields = Readonly<Record<string, FieldType>>;

/** The values of a record. */
export type RecordOf<Of extends Fields> = { readonly [Name in keyof Of]: FieldValue<Of[Name]> };

/** The layout of a record in memory. */
export class RecordLayout<Of extends Fields> {
  /** For each field, the index of its first word in a record. */
  readonly word: Readonly<Record<keyof Of, number>>;
  /** For each field, the offset of its first byte in a record. */
  readonly byte: Readonly<Record<keyof Of, number>>;
  /** Words of a record: one, two, or a multiple of four, so that GPUs load it as vectors. */
  readonly words: number;
  readonly bytes: number;
  readonly #entries: readonly (readonly [name: string, type: FieldType, word: number])[];
  /** The names of fields if all are "u32", which can be written faster. */
  readonly #integers: readonly string[] | undefined;

  /**
   * @param name name of the struct in WGSL
   * @param fields the fields; a u64 has to be at an even word
   * @param leastWords fewest words of a record; 4 for arrays in uniform buffers
   */
  constructor(readonly name: string, readonly fields: Of, leastWords = 1) {
    let end = 0;
    this.#entries = Object.entries(fields).map(([field, type]) => {
      const word = end;
      const size = type === "u64" ? 2 : 1;
      if (word % size !== 0) {
        throw new RangeError(
          `Cannot lay out ${name}: ${field} has two words, and begins at an odd one`,
        );
      }
      end += size;
      return [field, type, word];
    });
    const names = this.#entries.map(([field]) => field);
    this.#integers = names.every((field) => fields[field] === "u32") ? names : undefined;
    const offsets = (unit: number) =>
      Object.fromEntries(this.#entries.map(([field, , word]) => [field, word * unit]));
    this.word = offsets(1) as Record<keyof Of, number>;
    this.byte = offsets(4) as Record<keyof Of, number>;
    const words = Math.max(end, leastWords);
    this.words = words <= 2 ? words : 4 * Math.ceil(words / 4);
    this.bytes = 4 * this.words;
  }

  /** An empty list of records. @param expected expected number of records */
  list(expected = 0): RecordList<Of> {
    return new RecordList(this, expected);
  }

  /** Records in their packed form. */
  pack(records: readonly RecordOf<Of>[]): Uint32Array<ArrayBuffer> {
    const list = this.list(records.length);
    for (const record of records) list.add(record);
    return list.packed;
  }

  write(words: Uint32Array, index: number, record: RecordOf<Of>): void {
    const first = index * this.words;
    const integers = this.#integers;
    if (integers) {
      for (let word = 0; word < integers.length; word++) {
        words[first + word] = record[integers[word]!] as number;
      }
      return;
    }
    for (const [field, type, word] of this.#entries) {
      const value = record[field]!;
      const at = first + word;
      if (type === "u32") words[at] = value as number;
      else if (type === "f32") bits(words)[at] = value as number;
      else {
        words[at] = Number((value as bigint) & 0xffffffffn);
        words[at + 1] = Number((value as bigint) >> 32n);
      }
    }
  }

  read(words: Uint32Array, index: number): RecordOf<Of> {
    const entries = this.#entries.map(([field, type, word]) => {
      const at = index * this.words + word;
      if (type === "u64") return [field, BigInt(words[at]!) | BigInt(words[at + 1]!) << 32n];
      return [field, type === "f32" ? bits(words)[at] : words[at]];
    });
    return Object.fromEntries(entries);
  }
}

/** Words of a record as the floats that they are. */
function bits(words: Uint32Array): Float32Array {
  return new Float32Array(words.buffer, words.byteOffset, words.length);
}

/** A list of packed records to which records are added. */
export class RecordList<Of extends Fields> {
  readonly #layout: RecordLayout<Of>;
  #words: Uint32Array<ArrayBuffer>;
  #count = 0;

  constructor(layout: RecordLayout<Of>, expected: number) {
    this.#layout = layout;
    this.#words = new Uint32Array(expected * layout.words);
  }

  /** Number of records so far. */
  get count(): number {
    return this.#count;
  }

  add(record: RecordOf<Of>): void {
    const index = this.#count++;
    if (this.#count * this.#layout.words > this.#words.length) {
      const larger = new Uint32Array(2 * this.#count * this.#layout.words);
      larger.set(this.#words);
      this.#words = larger;
    }
    this.#layout.write(this.#words, index, record);
  }

  /** All records in their packed form. */
  get packed(): Uint32Array<ArrayBuffer> {
    return this.#words.subarray(0, this.#count * this.#layout.words);
  }
}
