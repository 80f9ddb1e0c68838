// JPEG files of blocks of one colour each, for what encoders at hand do not write: any sampling factors,
// restart markers, colours that are not transformed. The format: ITU-T T.81, annexes B and F.1.

import { Buffer } from "node:buffer";

/** One component. */
export interface JpegComponent {
  id: number;
  /** Blocks in a unit: across and down. */
  horizontal: number;
  vertical: number;
  /** The value of each block, from 0 to 255, in the order of the file. */
  blocks: readonly number[];
}

/** How a file is to be. */
export interface JpegOptions {
  width: number;
  height: number;
  components: readonly JpegComponent[];
  /** Units between restart markers. Default: no markers. */
  restartInterval?: number;
  /** Segments before the frame, with their markers. */
  segments?: readonly Uint8Array[];
}

/** A code of four bits for each size of a difference, and one bit for the end of a block. */
const CODES = [
  [0x00, [0, 0, 0, 12], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]],
  [0x10, [1, 0, 0, 0], [0]],
] as const;

/** Writes a file with one scan. */
export function jpegOf(options: JpegOptions): Uint8Array {
  const { width, height, components, restartInterval = 0, segments = [] } = options;
  const sizes = [height >> 8, height & 255, width >> 8, width & 255];
  const frame = components.flatMap(({ id, horizontal, vertical }) => [
    id,
    horizontal << 4 | vertical,
    0,
  ]);
  return new Uint8Array(Buffer.concat([
    Buffer.from([0xff, 0xd8]),
    ...segments,
    // All factors are 8, so that a first coefficient is what its block is above 128.
    segment(0xdb, [0, ...new Array(64).fill(8)]),
    ...CODES.map(([kind, counts, symbols]) =>
      segment(0xc4, [kind, ...counts, ...new Array(12).fill(0), ...symbols])
    ),
    segment(0xdd, [restartInterval >> 8, restartInterval & 255]),
    segment(0xc0, [8, ...sizes, components.length, ...frame]),
    segment(0xda, [components.length, ...components.flatMap(({ id }) => [id, 0]), 0, 63, 0]),
    scan(components, restartInterval),
    Buffer.from([0xff, 0xd9]),
  ]));
}

/** Writes a segment. */
export function segment(marker: number, data: readonly number[]): Uint8Array {
  return Uint8Array.from([0xff, marker, data.length + 2 >> 8, data.length + 2 & 255, ...data]);
}

/** Writes the blocks, unit by unit. */
function scan(components: readonly JpegComponent[], restartInterval: number): Uint8Array {
  // The units of a single component are its blocks.
  const sizeOf = ({ horizontal, vertical }: JpegComponent) =>
    components.length === 1 ? 1 : horizontal * vertical;
  const units = components[0].blocks.length / sizeOf(components[0]);
  const parts: number[] = [];
  let bits = "";
  let last = components.map(() => 128);
  for (let unit = 0; unit < units; unit++) {
    if (restartInterval > 0 && unit > 0 && unit % restartInterval === 0) {
      parts.push(...pack(bits), 0xff, 0xd0 + (unit / restartInterval - 1) % 8);
      bits = "";
      last = components.map(() => 128);
    }
    for (const [index, component] of components.entries()) {
      const size = sizeOf(component);
      for (const value of component.blocks.slice(unit * size, (unit + 1) * size)) {
        bits += `${codeOf(value - last[index])}0`;
        last[index] = value;
      }
    }
  }
  return Uint8Array.from([...parts, ...pack(bits)]);
}

/** The code of a difference: its size, then its bits, less one if it is negative. */
function codeOf(difference: number): string {
  const size = difference === 0 ? 0 : Math.floor(Math.log2(Math.abs(difference))) + 1;
  const value = difference < 0 ? difference + 2 ** size - 1 : difference;
  const bits = size === 0 ? "" : value.toString(2).padStart(size, "0");
  return size.toString(2).padStart(4, "0") + bits;
}

/** Bytes of bits, filled up with ones, and with a zero after each byte of ones. */
function pack(bits: string): number[] {
  const bytes = bits.match(/.{1,8}/g) ?? [];
  return bytes.flatMap((byte) => {
    const value = parseInt(byte.padEnd(8, "1"), 2);
    return value === 0xff ? [value, 0] : [value];
  });
}
