// WebM and Matroska (RFC 9559), which browsers record: elements of EBML (RFC 8794), of which those are
// read that lead to the first track with a sound that can be decoded. Elements in which others lie are
// entered and their ends not minded, so that those of a recording, whose sizes are unknown, need no care.

import { AudioError } from "../audio.ts";
import type { SoundInput } from "../input.ts";
import type { Codec, Packet, PacketStream } from "./packets.ts";

/** Elements by their ids, as they are written. */
const EBML = 0x1a45dfa3;
const SEGMENT = 0x18538067;
const INFO = 0x1549a966;
const TIMESTAMP_SCALE = 0x2ad7b1;
const DURATION = 0x4489;
const TRACKS = 0x1654ae6b;
const TRACK_ENTRY = 0xae;
const TRACK_NUMBER = 0xd7;
const CODEC_ID = 0x86;
const CODEC_PRIVATE = 0x63a2;
const CONTENT_ENCODINGS = 0x6d80;
const CLUSTER = 0x1f43b675;
const BLOCK_GROUP = 0xa0;
const BLOCK = 0xa1;
const SIMPLE_BLOCK = 0xa3;
const DISCARD_PADDING = 0x75a2;

/** Elements that are entered. */
const ENTERED = new Set([SEGMENT, INFO, TRACKS, TRACK_ENTRY, CLUSTER, BLOCK_GROUP]);

/** Elements whose size may be unknown. */
const OPEN = new Set([SEGMENT, CLUSTER]);

/** Most bytes of an element that is read. */
const MOST_BYTES = 16 * 2 ** 20;

/** Elements without a packet after which others get their turn. */
const PAUSE = 1000;

/** How Matroska names the codecs that are decoded. */
const CODECS: Readonly<Record<string, Codec>> = { A_OPUS: "Opus", A_VORBIS: "Vorbis" };

/** What is known of a track. */
interface Track {
  number: number;
  codec: string;
  isEncoded: boolean;
  private: Uint8Array;
}

/** An element. */
interface Element {
  readonly id: number;
  /** The first byte of its content, and its bytes. */
  readonly at: number;
  readonly size: number;
}

/** Whether a file begins like WebM. */
export function isWebm(file: SoundInput): boolean {
  return file.view(0, 4).byteLength === 4 && file.view(0, 4).getUint32(0) === EBML;
}

/** Opens a WebM file. Errors: AudioError. */
export function openWebm(file: SoundInput): PacketStream {
  const tracks: Track[] = [];
  let [scale, duration] = [1_000_000, 0];
  let first = file.size;
  for (let at = 0; at < file.size;) {
    const element = readElement(file, at);
    if (element.id === CLUSTER) {
      first = at;
      break;
    }
    const content = () => file.read(element.at, checkSize(element));
    const track = tracks.at(-1);
    if (element.id === TIMESTAMP_SCALE) scale = numberOf(content());
    if (element.id === DURATION) duration = floatOf(file, element);
    if (element.id === TRACK_ENTRY) {
      tracks.push({ number: -1, codec: "", isEncoded: false, private: new Uint8Array() });
    } else if (track && element.id === TRACK_NUMBER) track.number = numberOf(content());
    else if (track && element.id === CODEC_ID) {
      track.codec = String.fromCharCode(...content().slice(0, 64));
    } else if (track && element.id === CODEC_PRIVATE) track.private = content();
    else if (track && element.id === CONTENT_ENCODINGS) track.isEncoded = true;
    at = ENTERED.has(element.id) ? element.at : element.at + element.size;
  }
  const track = chooseTrack(tracks);
  const codec = CODECS[track.codec];
  const seconds = duration * scale / 1e9;
  return {
    container: "WebM",
    codec,
    headers: codec === "Opus" ? [track.private] : divideXiph(track.private, "its headers"),
    length: codec === "Opus" && seconds > 0 && Number.isFinite(seconds)
      ? Math.ceil(48_000 * seconds)
      : undefined,
    packets: () => packetsOf(file, first, track),
  };
}

/** The first track that can be decoded. */
function chooseTrack(tracks: readonly Track[]): Track {
  const track = tracks.find(({ codec }) => Object.hasOwn(CODECS, codec));
  if (!track) {
    const others = tracks.map(({ codec }) => codec).filter((codec) => codec.startsWith("A_"));
    throw new AudioError(
      `the WebM or Matroska file has ${
        others[0] ? `a sound in ${others[0]}` : "no sound"
      }; Opus and ` +
        `Vorbis are supported: convert it, for example with "ffmpeg -i FILE sound.flac"`,
    );
  }
  if (!track.isEncoded) return track;
  throw new AudioError("the packets of the Matroska file are compressed, which is not supported");
}

/** The packets of a track. */
function* packetsOf(
  file: SoundInput,
  first: number,
  { number }: Track,
): Generator<Packet | undefined, void> {
  /** A block waits for what may follow it in its group: how much of it is left out. */
  let waiting: Uint8Array[] = [];
  const last = function* (padding?: number): Generator<Packet, void> {
    for (const [i, bytes] of waiting.entries()) {
      yield i === waiting.length - 1 ? { bytes, padding } : { bytes };
    }
    waiting = [];
  };
  for (let at = first, count = 0; at < file.size; count++) {
    const element = readElement(file, at);
    if (element.id === DISCARD_PADDING) {
      const nanoseconds = signedOf(file.read(element.at, checkSize(element)));
      yield* last(Math.round(Math.max(0, nanoseconds) * 48_000 / 1e9));
    } else if (element.id === SIMPLE_BLOCK || element.id === BLOCK) {
      yield* last();
      const { value, bytes: head } = readNumber(file.read(element.at, 8), "track", at);
      if (value === number) {
        const block = file.read(element.at, checkSize(element));
        if (block.length < head + 3) throw damaged(at, "a block is too short");
        waiting = divideBlock(block.subarray(head + 3), block[head + 2] >> 1 & 3, at);
      }
    }
    if (count % PAUSE === 0) yield undefined;
    at = ENTERED.has(element.id) ? element.at : element.at + element.size;
  }
  yield* last();
}

/** The packets of a block. @param lacing 0: it is one; 1: Xiph's sizes; 2: of one size; 3: EBML's sizes */
function divideBlock(bytes: Uint8Array, lacing: number, at: number): Uint8Array[] {
  if (lacing === 0) return [bytes];
  if (lacing === 1) return divideXiph(bytes, `the block at byte ${at}`);
  const count = (bytes[0] ?? 0) + 1;
  const sizes: number[] = [];
  let next = 1;
  if (lacing === 2) {
    const size = (bytes.length - 1) / count;
    if (!Number.isInteger(size)) throw damaged(at, "the packets of a block are not of one size");
    sizes.push(...Array<number>(count - 1).fill(size));
  }
  while (sizes.length < count - 1) {
    const { value, bytes: own } = readNumber(bytes.subarray(next, next + 8), "size", at);
    // Those behind the first one are differences, with an offset that makes them positive.
    sizes.push(sizes.length === 0 ? value : sizes.at(-1)! + value - (2 ** (7 * own - 1) - 1));
    next += own;
  }
  return divide(bytes.subarray(next), sizes, `the block at byte ${at}`);
}

/** Packets whose sizes come before them as Ogg writes them: the last one has what is left. */
function divideXiph(bytes: Uint8Array, what: string): Uint8Array[] {
  const count = (bytes[0] ?? 0) + 1;
  const sizes: number[] = [];
  let next = 1;
  while (sizes.length < count - 1) {
    let size = 0;
    let byte = 255;
    while (byte === 255) {
      byte = bytes[next++] ?? 0;
      size += byte;
    }
    sizes.push(size);
  }
  return divide(bytes.subarray(next), sizes, what);
}

function divide(bytes: Uint8Array, sizes: readonly number[], what: string): Uint8Array[] {
  let at = 0;
  const parts = sizes.map((size) => {
    if (size < 0 || at + size > bytes.length) {
      throw new AudioError(`the WebM file is damaged: ${what} contradicts its sizes`);
    }
    return bytes.subarray(at, at += size);
  });
  return [...parts, bytes.subarray(at)];
}

/** Reads the head of an element. Errors: AudioError if it is no element, or the file ends within it. */
function readElement(file: SoundInput, at: number): Element {
  const bytes = file.read(at, 12);
  const idBytes = Math.clz32(bytes[0] << 24) + 1;
  if (idBytes > 4) throw damaged(at, "no element begins there");
  if (bytes.length <= idBytes) throw incomplete();
  const id = bytes.subarray(0, idBytes).reduce((id, byte) => id * 256 + byte, 0);
  const { value, bytes: sizeBytes, isUnknown } = readNumber(bytes.subarray(idBytes), "size", at);
  const first = at + idBytes + sizeBytes;
  const size = isUnknown && OPEN.has(id) ? file.size - first : value;
  if (isUnknown && !OPEN.has(id)) throw damaged(at, "the size of an element is unknown");
  if (first + size > file.size) throw incomplete();
  return { id, at: first, size };
}

/** A number whose first byte tells its length. */
function readNumber(
  bytes: Uint8Array,
  what: string,
  at: number,
): { value: number; bytes: number; isUnknown: boolean } {
  const count = Math.clz32((bytes[0] ?? 0) << 24) + 1;
  if (count > 8) throw damaged(at, `no ${what} is where one has to be`);
  if (bytes.length < count) throw incomplete();
  let value = bytes[0] & 0xff >> count;
  let isUnknown = value === 0xff >> count;
  for (const byte of bytes.subarray(1, count)) {
    value = value * 256 + byte;
    isUnknown &&= byte === 0xff;
  }
  return { value, bytes: count, isUnknown };
}

function checkSize({ at, size }: Element): number {
  if (size <= MOST_BYTES) return size;
  throw damaged(at, `an element has ${size} bytes, and at most ${MOST_BYTES} are possible`);
}

function numberOf(bytes: Uint8Array): number {
  return bytes.reduce((value, byte) => value * 256 + byte, 0);
}

function signedOf(bytes: Uint8Array): number {
  return bytes.length > 0 && bytes[0] >= 0x80
    ? numberOf(bytes) - 2 ** (8 * bytes.length)
    : numberOf(bytes);
}

/** A float of four or eight bytes; 0 of others. */
function floatOf(file: SoundInput, { at, size }: Element): number {
  const view = file.view(at, Math.min(size, 8));
  return size === 4 ? view.getFloat32(0) : size === 8 ? view.getFloat64(0) : 0;
}

function damaged(at: number, state: string): AudioError {
  return new AudioError(`the WebM file is damaged at byte ${at}: ${state}`);
}

function incomplete(): AudioError {
  return new AudioError("the WebM file ends within an element: it is incomplete");
}
