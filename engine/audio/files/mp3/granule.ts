// The spectra of a granule of MP3 (ISO/IEC 11172-3, section 2.4.3.4; 13818-3 for the lower rates): scale
// factors, values in Huffman codes, and what both channels share.

import { AudioError } from "../../audio.ts";
import type { BitReader } from "../bit_reader.ts";
import { type ChannelInfo, DAMAGED, type FrameHeader, GRANULE } from "./frame.ts";
import { BANDS, type Bands, type CodeTree, FOURS, PAIRS } from "./tables.ts";

/** A band of a spectrum: one of a long block, or of one window of short ones. */
interface Band {
  readonly from: number;
  readonly width: number;
  /** 0 to 2; undefined: the band is long. */
  readonly window: number | undefined;
  /** Its number among the bands of its kind. */
  readonly index: number;
}

/** A channel of a granule. */
export interface ChannelSpectrum {
  readonly info: ChannelInfo;
  /** [576]; those of short windows window by window, band by band. */
  readonly values: Float32Array;
  readonly bands: readonly Band[];
  readonly scales: Int32Array;
  /** For each band: the scale factor from which on it says nothing of a common signal. */
  readonly limits: Int32Array;
  /** Values up to the last one that is not zero. */
  readonly end: number;
}

/** Bits of scale factors in MPEG-1: of the lower bands, and of the upper ones. */
const SCALE_BITS = [
  [0, 0, 0, 0, 3, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4],
  [0, 1, 2, 3, 0, 1, 2, 3, 1, 2, 3, 1, 2, 3, 2, 3],
];

/** Where the groups of long bands begin whose scale factors two granules may share. */
const GROUPS = [0, 6, 11, 16, 21];

/** Emphasis of the highest bands. */
const EMPHASIS = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 3, 3, 3, 2, 0];

/** In MPEG-2: how many scale factors have the bits of each of four sizes, for long, short and mixed blocks. */
const PARTS = [
  [[6, 5, 5, 5], [9, 9, 9, 9], [6, 9, 9, 9]],
  [[6, 5, 7, 3], [9, 9, 12, 6], [6, 9, 12, 6]],
  [[11, 10, 0, 0], [18, 18, 0, 0], [15, 18, 0, 0]],
  [[7, 7, 7, 0], [12, 12, 12, 0], [6, 15, 12, 0]],
  [[6, 6, 6, 3], [12, 9, 9, 6], [6, 12, 9, 6]],
  [[8, 8, 5, 0], [15, 12, 9, 0], [6, 18, 9, 0]],
];

/** Powers that quantized values stand for. */
const POWERS = Float32Array.from({ length: 8207 }, (_, value) => value ** (4 / 3));

/**
 * Reads a channel.
 *
 * @param reader at its first bit
 * @param first of the granule before in the same frame, of which scale factors may be shared
 * @throws {AudioError} if its numbers make no sense
 */
export function readChannel(
  reader: BitReader,
  header: FrameHeader,
  info: ChannelInfo,
  { isRight, shared, first }: {
    isRight: boolean;
    shared: number;
    first: ChannelSpectrum | undefined;
  },
): ChannelSpectrum {
  const table = BANDS[header.rate];
  const bands = bandsOf(table, info, header);
  const end = reader.position + info.bits;
  const { scales, limits } = header.isMpeg1
    ? readScales(reader, info, bands, { shared, first })
    : readLowScales(reader, info, bands, isRight && header.isIntensity);
  const values = new Float32Array(GRANULE);
  const last = readValues(reader, info, regionsOf(table, info), { values, end });
  reader.seek(end);
  // A middle and a side are each the sum and difference times the root of 1/2.
  const gain = info.gain - 210 - (header.isMidSide ? 2 : 0);
  for (const [i, { from, width, window, index }] of bands.entries()) {
    const scale = scales[i] + (info.hasEmphasis && window === undefined ? EMPHASIS[index] : 0);
    const windowGain = window === undefined ? 0 : 8 * info.windowGains[window];
    const factor = 2 ** ((gain - windowGain) / 4 - scale * (info.isCoarse ? 1 : 0.5));
    for (let k = from; k < Math.min(from + width, last); k++) values[k] *= factor;
  }
  return { info, values, bands, scales, limits, end: last };
}

/** The bands of a granule from the lowest on. */
function bandsOf({ long, short }: Bands, info: ChannelInfo, { isMpeg1 }: FrameHeader): Band[] {
  const bands: Band[] = [];
  let from = 0;
  const add = (width: number, index: number, window?: number) => {
    bands.push({ from, width, window, index });
    from += width;
  };
  const isShort = info.blockType === 2;
  const longBands = !isShort ? long.length : info.isMixed ? (isMpeg1 ? 8 : 6) : 0;
  for (let i = 0; i < longBands; i++) add(long[i], i);
  if (!isShort) return bands;
  for (let i = info.isMixed ? 3 : 0; i < short.length; i++) {
    for (let window = 0; window < 3; window++) add(short[i], i, window);
  }
  return bands;
}

function readScales(
  reader: BitReader,
  { scaleCode, blockType }: ChannelInfo,
  bands: readonly Band[],
  { shared, first }: { shared: number; first: ChannelSpectrum | undefined },
): { scales: Int32Array; limits: Int32Array } {
  const scales = new Int32Array(bands.length);
  const [lower, upper] = SCALE_BITS.map((bits) => bits[scaleCode]) as [number, number];
  for (const [i, { window, index }] of bands.entries()) {
    // The last band has none.
    if (index === (window === undefined ? 21 : 12)) continue;
    const group = GROUPS.findIndex((begin) => index < begin) - 1;
    const isShared = first && blockType !== 2 && first.info.blockType !== 2 &&
      (shared >> 3 - group & 1) === 1;
    scales[i] = isShared
      ? first.scales[i]
      : reader.unsigned(index < (window === undefined ? 11 : 6) ? lower : upper);
  }
  return { scales, limits: new Int32Array(bands.length).fill(7) };
}

/** Scale factors of MPEG-2, whose code says how many there are of which size. */
function readLowScales(
  reader: BitReader,
  { scaleCode, blockType, isMixed }: ChannelInfo,
  bands: readonly Band[],
  isIntensity: boolean,
): { scales: Int32Array; limits: Int32Array } {
  const scales = new Int32Array(bands.length);
  const limits = new Int32Array(bands.length).fill(64);
  const { part, sizes } = isIntensity ? intensitySizes(scaleCode >> 1) : usualSizes(scaleCode);
  const counts = PARTS[part][blockType !== 2 ? 0 : isMixed ? 2 : 1];
  let band = 0;
  for (const [i, count] of counts.entries()) {
    for (let k = 0; k < count && band < bands.length; k++, band++) {
      scales[band] = reader.unsigned(sizes[i]);
      if (sizes[i] > 0) limits[band] = 2 ** sizes[i] - 1;
    }
  }
  return { scales, limits };
}

function usualSizes(code: number): { part: number; sizes: number[] } {
  if (code < 400) {
    const high = code >> 4;
    return { part: 0, sizes: [Math.floor(high / 5), high % 5, code >> 2 & 3, code & 3] };
  }
  if (code < 500) {
    const high = code - 400 >> 2;
    return { part: 1, sizes: [Math.floor(high / 5), high % 5, code - 400 & 3, 0] };
  }
  return { part: 2, sizes: [Math.floor((code - 500) / 3), (code - 500) % 3, 0, 0] };
}

function intensitySizes(code: number): { part: number; sizes: number[] } {
  if (code < 180) {
    return { part: 3, sizes: [Math.floor(code / 36), Math.floor(code % 36 / 6), code % 6, 0] };
  }
  if (code < 244) {
    const rest = code - 180;
    return { part: 4, sizes: [rest >> 4, rest >> 2 & 3, rest & 3, 0] };
  }
  return { part: 5, sizes: [Math.floor((code - 244) / 3), (code - 244) % 3, 0, 0] };
}

/** Where the three regions of pairs end. */
function regionsOf({ long, short }: Bands, { blockType, regions }: ChannelInfo): number[] {
  const sum = (count: number) => long.slice(0, count).reduce((sum, width) => sum + width, 0);
  if (regions) return [sum(regions[0]), sum(regions[0] + regions[1]), GRANULE];
  const first = blockType === 2 ? 9 * short[0] : sum(8);
  return [first, GRANULE];
}

/** Reads quantized values, and gives the index behind the last one that may not be zero. */
function readValues(
  reader: BitReader,
  { pairs, tables, fourTable }: ChannelInfo,
  regions: readonly number[],
  { values, end }: { values: Float32Array; end: number },
): number {
  if (2 * pairs > GRANULE) throw new AudioError(DAMAGED);
  let at = 0;
  for (const [i, regionEnd] of regions.entries()) {
    const stop = Math.min(2 * pairs, regionEnd);
    if (tables[i] === 0) {
      at = Math.max(at, stop);
      continue;
    }
    const tree = PAIRS[tables[i]];
    if (!tree && at < stop) throw new AudioError(DAMAGED);
    while (at < stop) {
      const pair = readCode(reader, tree!);
      values[at++] = readSigned(reader, pair >> 4, tree!);
      values[at++] = readSigned(reader, pair & 15, tree!);
    }
    if (reader.position > end) throw new AudioError(DAMAGED);
  }
  while (reader.position < end && at + 4 <= GRANULE) {
    const four = readCode(reader, FOURS[fourTable]);
    for (let bit = 8, k = 0; bit > 0; bit >>= 1, k++) {
      values[at + k] = four & bit ? (reader.unsigned(1) ? -1 : 1) : 0;
    }
    // Encoders end within four values where the bits end.
    if (reader.position > end) values.fill(0, at, at + 4);
    else at += 4;
  }
  return at;
}

function readCode(reader: BitReader, { branches }: CodeTree): number {
  let node = 0;
  do node = branches[2 * node + reader.unsigned(1)]; while (node > 0);
  return ~node;
}

function readSigned(reader: BitReader, size: number, { extraBits }: CodeTree): number {
  const value = size === 15 && extraBits > 0 ? 15 + reader.unsigned(extraBits) : size;
  if (value === 0) return 0;
  return reader.unsigned(1) ? -POWERS[value] : POWERS[value];
}

/** Makes left and right of a middle and a side, and of bands with one signal. In place. */
export function joinChannels(
  header: FrameHeader,
  left: ChannelSpectrum,
  right: ChannelSpectrum,
): void {
  const { isIntensity, isMidSide, isMpeg1 } = header;
  const { bands, values } = right;
  const begins = isIntensity ? intensityBegins(right) : [];
  for (const [i, { from, width, window }] of bands.entries()) {
    const begin = begins[window ?? 3];
    const position = positionOf(right, i, begin, isMpeg1);
    const isOne = isIntensity && from >= begin && position !== undefined;
    if (!isOne && !isMidSide) continue;
    const [a, b] = isOne ? shares(position!, right.info, isMpeg1, isMidSide) : [1, 1];
    for (let k = from; k < from + width; k++) {
      const [first, second] = [left.values[k], values[k]];
      left.values[k] = isOne ? a * first : first + second;
      values[k] = isOne ? b * first : first - second;
    }
  }
}

/**
 * Where between left and right the signal of a band is; undefined: its channels are two. The highest band
 * has no scale factor: it goes on as the one below, or is in the middle.
 */
function positionOf(
  { bands, scales, limits }: ChannelSpectrum,
  band: number,
  begin: number,
  isMpeg1: boolean,
): number | undefined {
  const step = bands[band].window === undefined ? 1 : 3;
  const own = band < bands.length - step ? band : band - step;
  if (own !== band && bands[own].from < begin) return isMpeg1 ? 3 : 0;
  return scales[own] < limits[own] ? scales[own] : undefined;
}

/** Where the bands with one signal begin: of each window, and of long blocks. */
function intensityBegins({ bands, values }: ChannelSpectrum): number[] {
  const begins = [0, 0, 0, 0];
  for (const { from, width, window } of bands) {
    const isSilent = values.subarray(from, from + width).every((value) => value === 0);
    if (isSilent) continue;
    begins[window ?? 3] = from + width;
    // Long bands below short ones have one signal only where all those above have.
    if (window !== undefined) begins[3] = from + width;
  }
  return begins;
}

/** The shares of left and right in a signal that they have together. */
function shares(
  position: number,
  { scaleCode }: ChannelInfo,
  isMpeg1: boolean,
  isMidSide: boolean,
): [left: number, right: number] {
  // The signal was scaled as a middle.
  const whole = isMidSide ? Math.SQRT2 : 1;
  if (isMpeg1) {
    const ratio = Math.tan(position * Math.PI / 12);
    return position === 6 ? [whole, 0] : [whole * ratio / (1 + ratio), whole / (1 + ratio)];
  }
  const less = whole * (scaleCode & 1 ? Math.SQRT1_2 : 2 ** -0.25) ** Math.ceil(position / 2);
  return position % 2 === 1 ? [less, whole] : [whole, less];
}
