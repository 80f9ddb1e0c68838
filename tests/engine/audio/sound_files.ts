// Sound files for tests: WAV of any format, and FLAC with every kind of subframe, written bit by bit.

/** Bytes of a WAV file with these chunks behind "fmt ". */
export function wavFile(
  { format, channels = 1, rate = 16_000, bits, extensible = false, data, size }: {
    format: number;
    channels?: number;
    rate?: number;
    bits: number;
    extensible?: boolean;
    data: Uint8Array;
    /** What the header says of the data's size. Default: the truth. */
    size?: number;
  },
): Uint8Array<ArrayBuffer> {
  const formatBytes = extensible ? 40 : 16;
  const bytes = new Uint8Array(20 + formatBytes + 8 + data.length);
  const view = new DataView(bytes.buffer);
  const frame = channels * Math.ceil(bits / 8);
  const text = (at: number, text: string) => bytes.set(new TextEncoder().encode(text), at);
  text(0, "RIFF");
  view.setUint32(4, bytes.length - 8, true);
  text(8, "WAVEfmt ");
  view.setUint32(16, formatBytes, true);
  view.setUint16(20, extensible ? 0xfffe : format, true);
  view.setUint16(22, channels, true);
  view.setUint32(24, rate, true);
  view.setUint32(28, rate * frame, true);
  view.setUint16(32, frame, true);
  view.setUint16(34, bits, true);
  if (extensible) {
    view.setUint16(36, 22, true);
    view.setUint16(38, bits, true);
    view.setUint16(44, format, true);
  }
  text(20 + formatBytes, "data");
  view.setUint32(24 + formatBytes, size ?? data.length, true);
  bytes.set(data, 28 + formatBytes);
  return bytes;
}

/** A WAV file of 16 bits with these samples from -1 to 1. */
export function wavOf(samples: Float32Array, rate = 16_000): Uint8Array<ArrayBuffer> {
  const values = Int16Array.from(samples, (sample) => Math.round(sample * 32767));
  return wavFile({ format: 1, bits: 16, rate, data: new Uint8Array(values.buffer) });
}

/** How a channel of a FLAC frame is written. */
export type Subframe =
  | { kind: "constant" | "verbatim" }
  | { kind: "fixed"; order: number }
  | { kind: "predicted"; factors: number[]; shift: number };

/** A FLAC file with one frame for each of the blocks; a block has an array for each channel. */
export function flacFile(
  blocks: readonly {
    channels: readonly Int32Array[];
    assignment?: number;
    subframe: Subframe;
    /** Bits of each sample that are zero, and not written. */
    wasted?: number;
    /** Whether differences are written with a constant number of bits instead of Rice codes. */
    escaped?: boolean;
  }[],
  { bits = 16, rate = 16_000, length }: { bits?: number; rate?: number; length?: number } = {},
): Uint8Array<ArrayBuffer> {
  const all = new BitWriter();
  all.text("fLaC");
  all.write(0x80, 8); // STREAMINFO, the last block
  all.write(34, 24);
  for (const _ of Array(10)) all.write(0, 8);
  all.write(rate, 20);
  all.write(blocks[0].channels.length - 1, 3);
  all.write(bits - 1, 5);
  all.write(0, 4);
  all.write(length ?? blocks.reduce((sum, { channels: [first] }) => sum + first.length, 0), 32);
  for (const _ of Array(16)) all.write(0, 8);
  blocks.forEach((block, number) => all.append(flacFrame(block, number, bits)));
  return all.bytes();
}

function flacFrame(
  { channels, assignment = channels.length - 1, subframe, wasted = 0, escaped = false }: Parameters<
    typeof flacFile
  >[0][number],
  number: number,
  bits: number,
): Uint8Array {
  const writer = new BitWriter();
  writer.write(0xfff8, 16);
  writer.write(7, 4); // the size follows in 16 bits
  writer.write(0, 4);
  writer.write(assignment, 4);
  writer.write(0, 4);
  writer.write(number, 8);
  writer.write(channels[0].length - 1, 16);
  writer.write(crc(writer.bytes(), 0x07, 8), 8);
  const [left, right] = channels;
  const side = left.map((value, i) => value - (right?.[i] ?? 0));
  const middle = left.map((value, i) => value + (right?.[i] ?? 0) >> 1);
  const written = { 8: [left, side], 9: [side, right], 10: [middle, side] }[assignment] ?? channels;
  const sideAt = assignment === 9 ? 0 : assignment >= 8 ? 1 : -1;
  written.forEach((values, channel) => {
    const own = bits + (channel === sideAt ? 1 : 0) - wasted;
    const shifted = values.map((value) => value >> wasted);
    writer.write(0, 1);
    const order = subframe.kind === "fixed"
      ? subframe.order
      : subframe.kind === "predicted"
      ? subframe.factors.length
      : 0;
    writer.write(
      { constant: 0, verbatim: 1, fixed: 8 + order, predicted: 31 + order }[subframe.kind],
      6,
    );
    writer.write(wasted ? 1 : 0, 1);
    if (wasted) writer.unary(wasted - 1);
    if (subframe.kind === "constant") return writer.signed(shifted[0], own);
    const first = subframe.kind === "verbatim" ? shifted.length : order;
    for (const value of shifted.subarray(0, first)) writer.signed(value, own);
    if (subframe.kind === "verbatim") return;
    const shift = subframe.kind === "predicted" ? subframe.shift : 0;
    const factors = subframe.kind === "predicted"
      ? subframe.factors
      : [[], [1], [2, -1], [3, -3, 1], [4, -6, 4, -1]][order];
    if (subframe.kind === "predicted") {
      writer.write(14, 4);
      writer.signed(shift, 5);
      for (const factor of factors) writer.signed(factor, 15);
    }
    writer.write(escaped ? 1 : 0, 2);
    writer.write(1, 4); // two partitions
    for (const half of [0, 1]) {
      const [from, end] = [half ? shifted.length / 2 : order, (half + 1) * shifted.length / 2];
      if (escaped) {
        writer.write(31, 5);
        writer.write(20, 5);
      } else writer.write(5, 4);
      for (let i = from; i < end; i++) {
        const guess = factors.reduce((sum, factor, j) => sum + factor * shifted[i - 1 - j], 0);
        const rest = shifted[i] - Math.floor(guess / 2 ** shift);
        if (escaped) writer.signed(rest, 20);
        else {
          const code = rest >= 0 ? 2 * rest : -2 * rest - 1;
          writer.unary(code >> 5);
          writer.write(code & 31, 5);
        }
      }
    }
  });
  writer.align();
  writer.write(crc(writer.bytes(), 0x8005, 16), 16);
  return writer.bytes();
}

/** A checksum, bit by bit. */
function crc(bytes: Uint8Array, polynomial: number, width: number): number {
  let value = 0;
  for (const byte of bytes) {
    for (let bit = 7; bit >= 0; bit--) {
      const top = value >> width - 1 & 1;
      value = value << 1 & 2 ** width - 1;
      if (top ^ (byte >> bit & 1)) value ^= polynomial;
    }
  }
  return value;
}

class BitWriter {
  readonly #bits: number[] = [];

  write(value: number, count: number): void {
    for (let bit = count - 1; bit >= 0; bit--) this.#bits.push(Math.floor(value / 2 ** bit) % 2);
  }

  signed(value: number, count: number): void {
    this.write(value < 0 ? value + 2 ** count : value, count);
  }

  unary(zeros: number): void {
    for (let i = 0; i < zeros; i++) this.#bits.push(0);
    this.#bits.push(1);
  }

  align(): void {
    while (this.#bits.length % 8 > 0) this.#bits.push(0);
  }

  text(text: string): void {
    for (const byte of new TextEncoder().encode(text)) this.write(byte, 8);
  }

  append(bytes: Uint8Array): void {
    for (const byte of bytes) this.write(byte, 8);
  }

  bytes(): Uint8Array<ArrayBuffer> {
    return Uint8Array.from(
      { length: this.#bits.length / 8 },
      (_, i) => this.#bits.slice(8 * i, 8 * i + 8).reduce((value, bit) => 2 * value + bit, 0),
    );
  }
}

/** A WebM file as browsers record it, with unknown sizes, of packets that lie three in a block if laced. */
export function recordingOf(
  { codec = "A_OPUS", header, packets, lacing }: {
    codec?: string;
    header: Uint8Array;
    packets: readonly Uint8Array[];
    /** 0: none; 1: Xiph's; 2: packets of one size; 3: EBML's. */
    lacing: number;
  },
): Uint8Array<ArrayBuffer> {
  const big = (id: number) => id > 0xff_ffff ? 4 : id > 0xffff ? 3 : id > 0xff ? 2 : 1;
  const bytesOf = (value: number, count: number) =>
    Array.from({ length: count }, (_, i) => Math.floor(value / 256 ** (count - 1 - i)) % 256);
  const open = (id: number) => [...bytesOf(id, big(id)), 1, 255, 255, 255, 255, 255, 255, 255];
  const element = (id: number, content: Iterable<number>) => {
    const all = [...content];
    return [...bytesOf(id, big(id)), 0x40 + (all.length >> 8), all.length & 255, ...all];
  };
  const track = [
    ...element(0xd7, [1]),
    ...element(0x83, [2]),
    ...element(0x86, new TextEncoder().encode(codec)),
    ...element(0x63a2, header),
  ];
  const group = lacing === 0 ? 1 : 3;
  const blocks: number[] = [];
  for (let i = 0; i < packets.length; i += group) {
    const own = packets.slice(i, i + group);
    const sizes = own.slice(0, -1).flatMap(({ length }, k) => {
      if (lacing === 1) return [...Array(Math.floor(length / 255)).fill(255), length % 255];
      if (lacing === 2) return [];
      const value = k === 0 ? length : length - own[k - 1].length + 2 ** 13 - 1;
      return bytesOf(0x4000 + value, 2);
    });
    const head = lacing === 0 ? [] : [own.length - 1, ...sizes];
    blocks.push(
      ...element(0xa3, [0x81, 0, 0, lacing << 1, ...head, ...own.flatMap((p) => [...p])]),
    );
  }
  return Uint8Array.from([
    ...element(0x1a45dfa3, element(0x4282, new TextEncoder().encode("webm"))),
    ...open(0x18538067),
    ...element(0x1654ae6b, element(0xae, track)),
    ...open(0x1f43b675),
    ...element(0xe7, [0]),
    ...blocks,
  ]);
}
