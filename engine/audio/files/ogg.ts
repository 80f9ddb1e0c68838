// Ogg (RFC 3533): pages with packets of several streams, of which one is read. Checksums are compared.
// What Opus and Vorbis put in their first packets: RFC 7845, and the Vorbis I specification.

import { AudioError } from "../audio.ts";
import type { SoundInput } from "../input.ts";
import type { Codec, Packet, PacketStream } from "./packets.ts";

/** Most bytes of a page's header, and of a page. */
const [HEADER_BYTES, PAGE_BYTES] = [27 + 255, 27 + 255 + 255 * 255];

/** Most bytes of a packet: a picture of an album fits. */
const MOST_PACKET = 16 * 2 ** 20;

/** How the first packet of a codec begins, and how many packets are its headers. */
const CODECS: readonly (readonly [begins: string, name: string, headers: number])[] = [
  ["OpusHead", "Opus", 2],
  ["\x01vorbis", "Vorbis", 3],
  ["\x7fFLAC", "FLAC in Ogg", 0],
  ["Speex   ", "Speex", 0],
];

/** A page. */
interface Page {
  readonly serial: number;
  /** Whether its first packet goes on from the page before. */
  readonly continues: boolean;
  readonly isFirst: boolean;
  readonly isLast: boolean;
  /** Position at the end of the last packet that ends here; -1: none does. */
  readonly granule: number;
  /** Parts of packets. The last one goes on in the next page where `isOpen`. */
  readonly parts: readonly Uint8Array[];
  readonly isOpen: boolean;
  /** Bytes of the page. */
  readonly size: number;
}

/** Whether a file begins like Ogg. */
export function isOgg(file: SoundInput): boolean {
  return file.text(0, 4) === "OggS";
}

/** Opens an Ogg file. Errors: AudioError. */
export function openOgg(file: SoundInput): PacketStream {
  const { serial, codec, count } = findStream(file);
  const packets = packetsOf(file, serial);
  const headers: Uint8Array[] = [];
  while (headers.length < count) {
    const { value, done } = packets.next();
    if (done) throw new AudioError(`the Ogg file ends within the headers of ${codec}`);
    if (value) headers.push(value.bytes);
  }
  return {
    container: "Ogg",
    codec,
    headers,
    length: lastGranule(file, serial),
    packets: () => packets,
  };
}

/** The first stream that can be decoded. */
function findStream(file: SoundInput): { serial: number; codec: Codec; count: number } {
  let other: string | undefined;
  for (let at = 0; at < file.size;) {
    const page = readPage(file, at);
    if (!page.isFirst) break; // all streams begin before any goes on
    const text = String.fromCharCode(...(page.parts[0] ?? []).slice(0, 8));
    const [, name, count] = CODECS.find(([begins]) => text.startsWith(begins)) ?? [];
    if (count) return { serial: page.serial, codec: name as Codec, count };
    other ??= name;
    at += page.size;
  }
  throw new AudioError(
    `the Ogg file has ${
      other ?? "no sound that is known"
    }; Opus and Vorbis are supported: convert it, ` +
      `for example with "ffmpeg -i FILE sound.flac"`,
  );
}

/** The packets of a stream. */
function* packetsOf(file: SoundInput, serial: number): Generator<Packet | undefined, void> {
  let open: Uint8Array[] = [];
  let isBegun = false;
  let isEnded = false;
  for (let at = 0; at < file.size;) {
    const page = readPage(file, at);
    at += page.size;
    if (isEnded && page.isFirst) {
      throw new AudioError(
        `the Ogg file has several sounds one after the other; cut it into several files`,
      );
    }
    if (page.serial !== serial) {
      yield undefined;
      continue;
    }
    // A packet whose beginning is not here cannot be decoded: the file was cut out of a larger one.
    const parts = page.continues && !isBegun && open.length === 0
      ? page.parts.slice(1)
      : page.parts;
    if (!page.continues && open.length > 0) {
      throw new AudioError(
        `the Ogg file is damaged before byte ${at}: the end of a packet is missing`,
      );
    }
    isBegun = true;
    for (const [i, part] of parts.entries()) {
      open.push(part);
      const isPart = i === parts.length - 1 && page.isOpen;
      if (isPart) continue;
      const isEnd = page.granule >= 0 && page.isLast;
      yield { bytes: joined(open), ...isEnd && { end: page.granule } };
      open = [];
    }
    if (open.reduce((sum, { length }) => sum + length, 0) > MOST_PACKET) {
      throw new AudioError(`a packet of the Ogg file has more than ${MOST_PACKET} bytes`);
    }
    if (parts.length === 0) yield undefined;
    isEnded ||= page.isLast;
  }
}

/** Reads the page at a byte. Errors: AudioError. */
function readPage(file: SoundInput, at: number): Page {
  const damaged = (state: string) =>
    new AudioError(`the Ogg file is damaged at byte ${at}: ${state}`);
  const header = file.read(at, HEADER_BYTES);
  const count = header[26];
  if (header.length < 27 || header.length < 27 + count) {
    throw new AudioError("the Ogg file ends within the header of a page: it is incomplete");
  }
  if (file.text(at, 4) !== "OggS" || header[4] !== 0) throw damaged("no page begins there");
  const lengths = header.subarray(27, 27 + count);
  const size = 27 + count + lengths.reduce((sum, length) => sum + length, 0);
  const bytes = file.read(at, PAGE_BYTES).subarray(0, size);
  if (bytes.length < size) {
    throw new AudioError("the Ogg file ends within a page: it is incomplete");
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, size);
  if (view.getUint32(22, true) !== checksum(bytes)) {
    throw damaged("the checksum of its page differs");
  }
  const parts: Uint8Array[] = [];
  let [first, end] = [27 + count, 27 + count];
  for (const [i, length] of lengths.entries()) {
    end += length;
    if (length === 255 && i < count - 1) continue;
    parts.push(bytes.subarray(first, end));
    first = end;
  }
  return {
    serial: view.getUint32(14, true),
    continues: (bytes[5] & 1) !== 0,
    isFirst: (bytes[5] & 2) !== 0,
    isLast: (bytes[5] & 4) !== 0,
    granule: Number(view.getBigInt64(6, true)),
    parts,
    isOpen: lengths.at(-1) === 255,
    size,
  };
}

/** The position at the end of a stream, if its last page is where it should be. */
function lastGranule(file: SoundInput, serial: number): number | undefined {
  const from = Math.max(0, file.size - PAGE_BYTES);
  const text = new TextDecoder("latin1").decode(file.read(from, PAGE_BYTES));
  for (let at = text.lastIndexOf("OggS"); at >= 0; at = text.lastIndexOf("OggS", at - 1)) {
    const header = file.view(from + at, 27);
    if (header.byteLength < 27 || header.getUint32(14, true) !== serial) continue;
    const granule = Number(header.getBigInt64(6, true));
    if (granule > 0) return granule;
    if (at === 0) break;
  }
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  if (parts.length === 1) return parts[0];
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

/** Remainders of the polynomial 0x04c11db7, the highest bit first. */
const REMAINDERS = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte << 24;
  for (let i = 0; i < 8; i++) value = value < 0 ? value << 1 ^ 0x04c11db7 : value << 1;
  return value;
});

/** The checksum of a page, whose own four bytes count as zeros. */
function checksum(page: Uint8Array): number {
  let crc = 0;
  for (let at = 0; at < page.length; at++) {
    const byte = at >= 22 && at < 26 ? 0 : page[at];
    crc = crc << 8 ^ REMAINDERS[crc >>> 24 ^ byte];
  }
  return crc >>> 0;
}
