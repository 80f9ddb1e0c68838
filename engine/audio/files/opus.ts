// Opus (RFC 6716): packets to samples at 48 kHz by libopus, which the package opus-decoder has as
// WebAssembly. The header is that of RFC 7845, which Ogg and WebM share. Packets are checked before, because
// the decoder writes its errors to the console.

import { AudioError, checkSound, type SoundReader } from "../audio.ts";
import type { PacketStream } from "./packets.ts";

/** The rate of all Opus. */
const RATE = 48_000;

/** Most channels that libopus mixes, and most samples of a packet: 120 ms. */
const [MOST_CHANNELS, MOST_SAMPLES] = [8, 5760];

/** Samples of a frame in a mode's configurations: SILK's and CELT's. */
const FRAMES = [
  ...Array.from({ length: 3 }, () => [480, 960, 1920, 2880]).flat(),
  ...Array.from({ length: 2 }, () => [480, 960]).flat(),
  ...Array.from({ length: 4 }, () => [120, 240, 480, 960]).flat(),
];

/** What the header says. */
interface OpusHead {
  readonly channels: number;
  /** Samples at the beginning that are no sound. */
  readonly skip: number;
  /** Factor for all samples. */
  readonly gain: number;
  /** How streams become channels; undefined: there is one stream. */
  readonly mapping?: { streams: number; coupled: number; table: number[] } | undefined;
}

/** Opens a stream of Opus. Errors: AudioError. */
export async function openOpus(stream: PacketStream): Promise<SoundReader> {
  const { container, headers, length } = stream;
  const { channels, skip, gain, mapping } = readHead(headers[0] ?? new Uint8Array());
  // Not before: in a folder with a package.json, Deno finds no packages that are not listed there.
  const { loadOpusDecoder } = await import("../../dependencies.ts");
  const { OpusDecoder } = await loadOpusDecoder();
  const decoder = new OpusDecoder({
    channels,
    ...mapping && {
      streamCount: mapping.streams,
      coupledStreamCount: mapping.coupled,
      channelMappingTable: mapping.table,
    },
  });
  await decoder.ready;
  return {
    format: `Opus in ${container}`,
    rate: RATE,
    channels,
    length: length === undefined ? undefined : Math.max(0, length - skip),
    *blocks() {
      try {
        let done = 0;
        for (const packet of stream.packets()) {
          if (!packet) {
            yield [];
            continue;
          }
          checkPacket(packet.bytes, mapping?.streams ?? 1, channels);
          const { channelData, samplesDecoded, errors } = decoder.decodeFrame(packet.bytes);
          if (errors.length > 0) throw new AudioError("a packet of Opus is damaged");
          const there = samplesDecoded - (packet.padding ?? 0);
          const end = Math.max(0, Math.min(there, (packet.end ?? Infinity) - done));
          const begin = Math.min(end, Math.max(0, skip - done));
          done += samplesDecoded;
          yield channelData.map((samples) => scaled(samples.subarray(begin, end), gain));
        }
      } finally {
        decoder.free();
      }
    },
  };
}

function scaled(samples: Float32Array, gain: number): Float32Array {
  return gain === 1 ? samples : samples.map((value) => value * gain);
}

/** Reads the header "OpusHead". Errors: AudioError. */
function readHead(bytes: Uint8Array): OpusHead {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const text = String.fromCharCode(...bytes.subarray(0, 8));
  if (text !== "OpusHead" || bytes.length < 19 || view.getUint8(8) >> 4 !== 0) {
    throw new AudioError("the header of Opus is damaged");
  }
  const [channels, family] = [view.getUint8(9), view.getUint8(18)];
  checkSound("Opus", RATE, channels);
  const [skip, gain] = [view.getUint16(10, true), 10 ** (view.getInt16(16, true) / 256 / 20)];
  if (family === 0 && channels <= 2) return { channels, skip, gain };
  const [streams, coupled] = [bytes[19] ?? 0, bytes[20] ?? 0];
  const table = [...bytes.subarray(21, 21 + channels)];
  const isValid = streams > 0 && coupled <= streams && table.length === channels &&
    table.every((stream) => stream === 255 || stream < streams + coupled);
  if (family === 0 || !isValid) throw new AudioError("the header of Opus contradicts itself");
  if (channels > MOST_CHANNELS) {
    throw new AudioError(
      `Opus with ${channels} channels is not supported, only up to ${MOST_CHANNELS}`,
    );
  }
  return { channels, skip, gain, mapping: { streams, coupled, table } };
}

/** Checks what RFC 6716 demands of a packet (section 3.4). Of several streams that of the first is. */
function checkPacket(packet: Uint8Array, streams: number, channels: number): void {
  const damaged = () =>
    new AudioError("a packet of Opus is damaged: its sizes contradict each other");
  const [head, second = 0] = packet;
  // The decoder has memory for this many bytes.
  if (head === undefined || packet.length > 3840 * channels) throw damaged();
  const code = head & 3;
  const samples = FRAMES[head >> 3];
  const count = code === 0 ? 1 : code < 3 ? 2 : second & 63;
  if (count === 0 || count * samples > MOST_SAMPLES) throw damaged();
  if (streams > 1) return;
  /** Bytes of the length at a byte, and the length. */
  const lengthAt = (at: number) => {
    const [a = 0, b = 0] = packet.subarray(at, at + 2);
    return a < 252 ? { bytes: 1, length: a } : { bytes: 2, length: 4 * b + a };
  };
  let [at, padding, known] = [code === 3 ? 2 : 1, 0, 0];
  if (code === 3 && second & 64) {
    for (let byte = 255; byte === 255;) {
      byte = packet[at++] ?? 0;
      padding += byte === 255 ? 254 : byte;
    }
  }
  const isVariable = code === 2 || code === 3 && second & 128;
  for (let i = 1; isVariable && i < count; i++) {
    const { bytes, length } = lengthAt(at);
    at += bytes;
    known += length;
  }
  const left = packet.length - at - padding - known;
  const each = isVariable ? 1 : count;
  if (left < 0 || left % each !== 0 || left / each > 1275) throw damaged();
}
