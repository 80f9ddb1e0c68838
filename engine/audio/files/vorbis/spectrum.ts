// The spectra of a packet of Vorbis (Vorbis I specification, sections 4.3, 7 and 8): an outline for each
// channel, the floor, times what is left, the residue, of which channels may share some.

import type { LowBitReader } from "../bit_reader.ts";
import { bitsOf } from "./codebook.ts";
import type { Floor, Mapping, Residue } from "./setup.ts";

/** Values of a point, by the multiplier. */
const RANGES = [256, 128, 86, 64];

/** What the steps of a floor stand for: 140 dB in 256 steps. */
const DECIBELS = Float32Array.from(
  { length: 256 },
  (_, step) => 10 ** ((step - 255) * (140 / 256) / 20),
);

/**
 * Reads the spectra of all channels into arrays of `half` values. What the packet lacks at its end is
 * zero.
 */
export function readSpectra(
  reader: LowBitReader,
  { couplings, submapOf, submaps }: Mapping,
  half: number,
  spectra: readonly Float32Array[],
): void {
  const floors = submapOf.map((submap) => readFloor(reader, submaps[submap].floor));
  const isUsed = floors.map((floor) => floor !== undefined);
  for (const { magnitude, angle } of couplings) {
    if (isUsed[magnitude] || isUsed[angle]) isUsed[magnitude] = isUsed[angle] = true;
  }
  for (const spectrum of spectra) spectrum.fill(0, 0, half);
  for (const [submap, { residue }] of submaps.entries()) {
    const own = submapOf.flatMap((of, channel) => of === submap ? [channel] : []);
    readResidue(
      reader,
      residue,
      half,
      own.map((channel) => ({ values: spectra[channel], isUsed: isUsed[channel] })),
    );
  }
  for (const { magnitude, angle } of couplings.toReversed()) {
    uncouple(spectra[magnitude], spectra[angle], half);
  }
  for (const [channel, heights] of floors.entries()) {
    const spectrum = spectra[channel];
    if (!heights) spectrum.fill(0, 0, half);
    else multiply(spectrum, submaps[submapOf[channel]].floor, heights, half);
  }
}

/** The heights of a floor's points; undefined: the channel is silent. */
function readFloor(reader: LowBitReader, floor: Floor): Int32Array | undefined {
  if (reader.unsigned(1) === 0) return undefined;
  const { groups, points, multiplier } = floor;
  const range = RANGES[multiplier - 1];
  const bits = bitsOf(range - 1);
  const read = new Int32Array(points.length);
  [read[0], read[1]] = [reader.unsigned(bits), reader.unsigned(bits)];
  let at = 2;
  for (const { dimensions, bits, master, books } of groups) {
    let subclasses = master ? master.read(reader) : 0;
    for (let i = 0; i < dimensions; i++) {
      const book = books[subclasses & 2 ** bits - 1];
      subclasses >>= bits;
      read[at++] = book ? book.read(reader) : 0;
    }
  }
  return reader.isOver ? undefined : heightsOf(floor, read, range);
}

/** Heights from what was read: differences from a line between neighbours. -1: the line goes past. */
function heightsOf({ points }: Floor, read: Int32Array, range: number): Int32Array {
  const all = Int32Array.from(read);
  const isCorner = points.map((_, i) => i < 2);
  for (let i = 2; i < points.length; i++) {
    const x = points[i];
    let [left, right] = [0, 1];
    for (let k = 2; k < i; k++) {
      if (points[k] < x && points[k] > points[left]) left = k;
      if (points[k] > x && points[k] < points[right]) right = k;
    }
    const rise = all[right] - all[left];
    const run = points[right] - points[left];
    const offset = Math.floor(Math.abs(rise) * (x - points[left]) / run);
    const predicted = all[left] + (rise < 0 ? -offset : offset);
    const value = read[i];
    all[i] = predicted;
    if (value === 0) continue;
    isCorner[left] = isCorner[right] = isCorner[i] = true;
    const [above, below] = [range - predicted, predicted];
    if (value >= 2 * Math.min(above, below)) {
      all[i] = above > below ? value - below + predicted : predicted - value + above - 1;
    } else {
      all[i] = predicted + (value % 2 === 1 ? -(value + 1) / 2 : value / 2);
    }
  }
  return all.map((height, i) => isCorner[i] ? height : -1);
}

/** Multiplies a spectrum by the lines between a floor's corners. */
function multiply(
  spectrum: Float32Array,
  { points, order, multiplier }: Floor,
  heights: Int32Array,
  half: number,
): void {
  let [x, y] = [0, heights[order[0]] * multiplier];
  const line = (toX: number, toY: number) => {
    const [run, rise] = [toX - x, toY - y];
    const base = Math.trunc(rise / run);
    const rest = Math.abs(rise) - Math.abs(base * run);
    let [height, error] = [y, 0];
    for (let at = x; at < Math.min(toX, half); at++) {
      spectrum[at] *= DECIBELS[Math.max(0, Math.min(255, height))];
      error += rest;
      height += base;
      if (error < run) continue;
      error -= run;
      height += Math.sign(rise);
    }
    [x, y] = [toX, toY];
  };
  for (const point of order.slice(1)) {
    if (heights[point] >= 0) line(points[point], heights[point] * multiplier);
  }
  if (x < half) line(half, y);
}

/** Adds the vectors of a residue to the spectra of some channels. */
function readResidue(
  reader: LowBitReader,
  residue: Residue,
  half: number,
  channels: readonly { values: Float32Array; isUsed: boolean }[],
): void {
  if (residue.kind !== 2) return readPartitions(reader, residue, half, channels);
  // All channels are one vector, value by value in turns.
  if (!channels.some(({ isUsed }) => isUsed)) return;
  const values = new Float32Array(half * channels.length);
  readPartitions(reader, residue, values.length, [{ values, isUsed: true }]);
  for (const [channel, { values: own }] of channels.entries()) {
    for (let i = 0; i < half; i++) own[i] = values[i * channels.length + channel];
  }
}

function readPartitions(
  reader: LowBitReader,
  { kind, begin, end, size, classes, classBook, books }: Residue,
  length: number,
  channels: readonly { values: Float32Array; isUsed: boolean }[],
): void {
  const count = Math.floor((Math.min(end, length) - Math.min(begin, length)) / size);
  const used = channels.filter(({ isUsed }) => isUsed);
  const classOf = used.map(() => new Uint8Array(count + classBook.dimensions));
  for (let pass = 0; pass < 8; pass++) {
    for (let first = 0; first < count; first += classBook.dimensions) {
      if (pass === 0) {
        for (const own of classOf) {
          let code = classBook.read(reader);
          if (code < 0) return;
          for (let i = classBook.dimensions - 1; i >= 0; i--) {
            own[first + i] = code % classes;
            code = Math.floor(code / classes);
          }
        }
      }
      const last = Math.min(count, first + classBook.dimensions);
      for (let partition = first; partition < last; partition++) {
        for (const [i, { values }] of used.entries()) {
          const book = books[classOf[i][partition]][pass];
          if (!book) continue;
          const at = begin + partition * size;
          const { dimensions, vectors } = book;
          const steps = size / dimensions;
          for (let step = 0; step < steps; step++) {
            const entry = book.read(reader);
            if (entry < 0) return;
            const from = entry * dimensions;
            for (let d = 0; d < dimensions; d++) {
              const to = kind === 0 ? at + step + d * steps : at + step * dimensions + d;
              values[to] += vectors![from + d];
            }
          }
        }
      }
    }
  }
}

/** Two channels from a magnitude and an angle. In place. */
function uncouple(magnitudes: Float32Array, angles: Float32Array, half: number): void {
  for (let i = 0; i < half; i++) {
    const [magnitude, angle] = [magnitudes[i], angles[i]];
    if (magnitude > 0) {
      if (angle > 0) angles[i] = magnitude - angle;
      else [magnitudes[i], angles[i]] = [magnitude + angle, magnitude];
    } else if (angle > 0) angles[i] = magnitude + angle;
    else [magnitudes[i], angles[i]] = [magnitude - angle, magnitude];
  }
}
