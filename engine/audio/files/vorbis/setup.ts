// The headers of Vorbis (Vorbis I specification, section 4.2): rate and channels, and the tables by which
// packets are read: codebooks, floors, residues, mappings and modes. Floors of type 0, which only
// encoders before the year 2001 wrote, are refused.

import { AudioError, checkSound } from "../../audio.ts";
import { LowBitReader } from "../bit_reader.ts";
import { bitsOf, type Codebook, damaged, readCodebook } from "./codebook.ts";

/** A floor of type 1: a spectrum's outline, by lines between points. */
export interface Floor {
  /** The class of each group of points. */
  readonly groups: readonly FloorClass[];
  readonly multiplier: number;
  /** Where the points lie. */
  readonly points: readonly number[];
  /** The points' indices from left to right. */
  readonly order: readonly number[];
}

export interface FloorClass {
  readonly dimensions: number;
  /** Bits of a subclass. */
  readonly bits: number;
  /** The codebook of the subclasses; undefined: there is one. */
  readonly master: Codebook | undefined;
  readonly books: readonly (Codebook | undefined)[];
}

/** What is left of a spectrum, in several passes. */
export interface Residue {
  readonly kind: number;
  readonly begin: number;
  readonly end: number;
  /** Values of a partition. */
  readonly size: number;
  readonly classes: number;
  readonly classBook: Codebook;
  /** By class, and pass. */
  readonly books: readonly (readonly (Codebook | undefined)[])[];
}

/** Which floor and residue each channel has. */
export interface Mapping {
  readonly couplings: readonly { magnitude: number; angle: number }[];
  /** The submap of each channel. */
  readonly submapOf: readonly number[];
  readonly submaps: readonly { floor: Floor; residue: Residue }[];
}

export interface Mode {
  readonly isLong: boolean;
  readonly mapping: Mapping;
}

/** What the headers say. */
export interface VorbisSetup {
  readonly rate: number;
  readonly channels: number;
  /** Samples of short and long blocks. */
  readonly blockSizes: readonly [short: number, long: number];
  readonly modes: readonly Mode[];
}

/** Reads the headers: identification, comment and setup. Errors: AudioError. */
export function readSetup([first, , third]: readonly Uint8Array[]): VorbisSetup {
  const identification = readerOf(first, 1);
  const version = identification.unsigned(32);
  const channels = identification.unsigned(8);
  const rate = identification.unsigned(32);
  for (let i = 0; i < 3; i++) identification.unsigned(32); // rates of bits
  const [short, long] = [2 ** identification.unsigned(4), 2 ** identification.unsigned(4)];
  checkSound("Vorbis", rate, channels);
  if (version !== 0 || short < 64 || long < short || long > 8192) {
    throw new AudioError("the header of Vorbis is damaged: its sizes are not possible");
  }
  const reader = readerOf(third, 5);
  const modes = readTables(reader, channels);
  if (reader.unsigned(1) !== 1 || reader.isOver) throw damaged("it ends too early");
  return { rate, channels, blockSizes: [short, long], modes };
}

function readerOf(header: Uint8Array | undefined, type: number): LowBitReader {
  const text = String.fromCharCode(...(header ?? []).slice(0, 7));
  if (text !== `${String.fromCharCode(type)}vorbis`) {
    throw new AudioError("the headers of Vorbis are damaged");
  }
  return new LowBitReader(header!.subarray(7));
}

/** As many as six bits say, and one more. */
function list<T>(reader: LowBitReader, read: () => T, bits = 6): T[] {
  return Array.from({ length: reader.unsigned(bits) + 1 }, () => {
    if (reader.isOver) throw damaged("it ends too early");
    return read();
  });
}

function readTables(reader: LowBitReader, channels: number): Mode[] {
  const books = list(reader, () => readCodebook(reader), 8);
  for (const time of list(reader, () => reader.unsigned(16))) {
    if (time !== 0) throw damaged("it has transforms that are not known");
  }
  const floors = list(reader, () => readFloor(reader, books));
  const residues = list(reader, () => readResidue(reader, books));
  const mappings = list(reader, () => readMapping(reader, channels, floors, residues));
  return list(reader, (): Mode => {
    const isLong = reader.unsigned(1) === 1;
    if (reader.unsigned(16) + reader.unsigned(16) > 0) throw damaged("a mode is not known");
    return { isLong, mapping: pick(mappings, reader.unsigned(8)) };
  });
}

function pick<T>(all: readonly T[], index: number): T {
  if (index < all.length) return all[index];
  throw damaged("it names a table that is not there");
}

function readFloor(reader: LowBitReader, books: readonly Codebook[]): Floor {
  const type = reader.unsigned(16);
  if (type === 0) throw new AudioError("Vorbis with floors of type 0 is not supported");
  if (type > 1) throw damaged("a floor is of a type that is not known");
  const groups = Array.from({ length: reader.unsigned(5) }, () => reader.unsigned(4));
  const classes = Array.from({ length: Math.max(-1, ...groups) + 1 }, (): FloorClass => {
    const [dimensions, bits] = [reader.unsigned(3) + 1, reader.unsigned(2)];
    const master = bits > 0 ? pick(books, reader.unsigned(8)) : undefined;
    const subclasses = Array.from({ length: 2 ** bits }, () => {
      const book = reader.unsigned(8);
      return book === 0 ? undefined : pick(books, book - 1);
    });
    return { dimensions, bits, master, books: subclasses };
  });
  const [multiplier, bits] = [reader.unsigned(2) + 1, reader.unsigned(4)];
  const points = [0, 2 ** bits];
  for (const group of groups) {
    for (let i = 0; i < classes[group].dimensions; i++) points.push(reader.unsigned(bits));
  }
  const order = points.map((_, i) => i).sort((a, b) => points[a] - points[b]);
  if (points.length > 65 || new Set(points).size < points.length) {
    throw damaged("the points of a floor are not possible");
  }
  return { groups: groups.map((group) => classes[group]), multiplier, points, order };
}

function readResidue(reader: LowBitReader, books: readonly Codebook[]): Residue {
  const kind = reader.unsigned(16);
  if (kind > 2) throw damaged("a residue is of a type that is not known");
  const [begin, end] = [reader.unsigned(24), reader.unsigned(24)];
  const [size, classes] = [reader.unsigned(24) + 1, reader.unsigned(6) + 1];
  const classBook = pick(books, reader.unsigned(8));
  if (end < begin || classBook.dimensions === 0) throw damaged("a residue is not possible");
  const passes = Array.from({ length: classes }, () => {
    const low = reader.unsigned(3);
    return reader.unsigned(1) ? low + 8 * reader.unsigned(5) : low;
  });
  const booksOf = passes.map((cascade) =>
    Array.from({ length: 8 }, (_, pass) => {
      if ((cascade >> pass & 1) === 0) return undefined;
      const book = pick(books, reader.unsigned(8));
      if (!book.vectors || size % book.dimensions !== 0) throw damaged("a residue has no vectors");
      return book;
    })
  );
  return { kind, begin, end, size, classes, classBook, books: booksOf };
}

function readMapping(
  reader: LowBitReader,
  channels: number,
  floors: readonly Floor[],
  residues: readonly Residue[],
): Mapping {
  if (reader.unsigned(16) !== 0) throw damaged("a mapping is of a type that is not known");
  const count = reader.unsigned(1) ? reader.unsigned(4) + 1 : 1;
  const bits = bitsOf(channels - 1);
  const steps = reader.unsigned(1) ? reader.unsigned(8) + 1 : 0;
  const couplings = Array.from({ length: steps }, () => {
    const [magnitude, angle] = [reader.unsigned(bits), reader.unsigned(bits)];
    if (magnitude === angle || magnitude >= channels || angle >= channels) {
      throw damaged("channels are coupled that are not there");
    }
    return { magnitude, angle };
  });
  if (reader.unsigned(2) !== 0) throw damaged("a mapping is not known");
  const submapOf = Array.from({ length: channels }, () => count > 1 ? reader.unsigned(4) : 0);
  if (submapOf.some((submap) => submap >= count)) throw damaged("a submap is not there");
  const submaps = Array.from({ length: count }, () => {
    reader.unsigned(8);
    return { floor: pick(floors, reader.unsigned(8)), residue: pick(residues, reader.unsigned(8)) };
  });
  return { couplings, submapOf, submaps };
}
