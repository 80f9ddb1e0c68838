// Reads rows of a file and packs them, on all threads: each opens the file itself, since reading is mostly
// copying from the system's memory, and packs a piece while it is in its cache. The kernel is JavaScript
// around `pack` (pack.ts).

import { type FileBytes, readableFiles, SEEK_START, stampOf } from "../../host/mod.ts";
import { BAND } from "./formats/format.ts";
import type { Kernel } from "./kernel.ts";

/** Arguments, as words in memory, which those of `pack` follow. */
const ARGUMENTS = ["file", "fileBytes", "low", "high", "rowBytes", "slots", "slotBytes"] as const;

/** Most arguments of `pack`, the first of which is where the rows are. */
const PACK_WORDS = 6;

/** Bytes that a thread reads at a time: what its cache holds beside the bands. */
const PIECE = 2 ** 18;
/** Bytes for which a thread opens the file, at most: opening takes as long as reading some 100 KB. */
const TAKE = 2 ** 21;
/** Bytes of a slot before its rows: whether a thread has it, and the arguments of `pack`. */
const SLOT_HEAD = 64;

/** A request to pack rows of a file, and the memory that it takes. */
export class FilePacking {
  readonly #name: Uint8Array;
  readonly #offset: number;
  readonly #rowBytes: number;
  readonly #slots: number;

  /** @param threads those that may take part */
  constructor({ path, stamp, offset }: FileBytes, rowBytes: number, threads: number) {
    this.#name = new TextEncoder().encode(JSON.stringify([path, stamp]));
    this.#offset = offset;
    this.#rowBytes = rowBytes;
    this.#slots = threads;
  }

  /** Most bands that a thread takes at once. */
  get grain(): number {
    return Math.max(1, Math.floor(TAKE / this.#bandBytes));
  }

  /** Bytes of memory for {@linkcode FilePacking.write}. @param past bytes after rows that packing reads */
  bytes(past: number): number {
    return this.#slots * this.#slotBytes(past) + this.#name.length;
  }

  /** Fills the memory. Returns the arguments of the kernel. */
  write(memory: Uint8Array, past: number, pack: readonly number[]): number[] {
    const slotBytes = this.#slotBytes(past);
    for (let slot = 0; slot < this.#slots; slot++) {
      memory.fill(0, slot * slotBytes, slot * slotBytes + 4);
    }
    memory.set(this.#name, this.#slots * slotBytes);
    const values = {
      file: memory.byteOffset + this.#slots * slotBytes,
      fileBytes: this.#name.length,
      low: this.#offset % 2 ** 32,
      high: Math.floor(this.#offset / 2 ** 32),
      rowBytes: this.#rowBytes,
      slots: memory.byteOffset,
      slotBytes,
    };
    return [...ARGUMENTS.map((name) => values[name]), ...pack];
  }

  get #bandBytes(): number {
    return BAND * this.#rowBytes;
  }

  #slotBytes(past: number): number {
    return SLOT_HEAD + 64 * Math.ceil((Math.max(PIECE, this.#bandBytes) + past) / 64);
  }
}

/** A kernel that reads bands `first` to `last` from a file and has `pack` pack them. */
export function packFile(pack: Kernel, work: WebAssembly.Memory): Kernel {
  return (record, first, last) => {
    const words = new Int32Array(work.buffer);
    const given = words.subarray(record / 4);
    const [name, nameBytes, low, high, rowBytes, slots, slotBytes] = given as unknown as number[];
    const packWords = given.subarray(ARGUMENTS.length, ARGUMENTS.length + PACK_WORDS);
    const bandBytes = BAND * rowBytes!;
    const end = packWords[3]! * rowBytes!; // `rows` of pack
    const bytesOf = (address: number, count: number) =>
      new Uint8Array(work.buffer, address >>> 0, count);
    const [path, stamp] = JSON.parse(
      new TextDecoder().decode(bytesOf(name!, nameBytes!).slice()),
    ) as [string, string];
    const file = readableFiles().openSync(path);
    const slot = takeSlot(words, slots! >>> 0, slotBytes!);
    try {
      if (stampOf(file.statSync()) !== stamp) throw new Error(`"${path}" has changed`);
      file.seekSync((high! * 2 ** 32) + (low! >>> 0) + first * bandBytes, SEEK_START);
      const [own, rows] = [slot + 4, slot + SLOT_HEAD];
      words.set(packWords, own / 4);
      const step = Math.max(1, Math.floor(PIECE / bandBytes));
      for (let band = first; band < last; band += step) {
        const until = Math.min(last, band + step);
        fill(file, bytesOf(rows, Math.min(until * bandBytes, end) - band * bandBytes));
        // `pack` counts rows from the first one of the request.
        words[own / 4] = rows - band * bandBytes;
        pack(own, band, until);
      }
    } finally {
      Atomics.store(words, slot / 4, 0);
      file.close();
    }
  };
}

/** Takes a free slot; there is one for each thread. Returns its address. */
function takeSlot(words: Int32Array, slots: number, slotBytes: number): number {
  for (let slot = slots;; slot += slotBytes) {
    if (Atomics.compareExchange(words, slot / 4, 0, 1) === 0) return slot;
  }
}

function fill(file: { readSync(target: Uint8Array): number | null }, target: Uint8Array): void {
  for (let filled = 0; filled < target.length;) {
    const count = file.readSync(target.subarray(filled));
    if (!count) throw new Error("the file has become shorter");
    filled += count;
  }
}
