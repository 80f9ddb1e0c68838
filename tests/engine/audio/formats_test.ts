// Sounds in lossy codecs: each file of sounds/ against the samples that sox made of what ffmpeg decoded; how
// packets lie in WebM, what is refused by name, files read from a disk, and files that are damaged.

import { assert, assertEquals, assertRejects } from "@std/assert";
import { AudioError, decodeSound } from "../../../engine/audio/mod.ts";
import { openWebm } from "../../../engine/audio/files/webm.ts";
import { SoundInput } from "../../../engine/audio/input.ts";
import { InverseMdct } from "../../../engine/audio/mdct.ts";
import { randomFloats } from "../../numbers.ts";
import { recordingOf, wavOf } from "./sound_files.ts";
import { share } from "../../share.ts";

const SOUNDS = new URL("sounds/", import.meta.url);

/** 0.4 s of tones from 200 to 5000 Hz, encoded by ffmpeg; the WAV file beside each is at 16 kHz, by sox. */
const FILES = ["joint.mp3", "low.mp3", "tone.ogg", "chirp.opus", "voice.webm", "vorbis.mkv"];

const pathOf = (name: string) => new URL(name, SOUNDS).pathname;
const bytesOf = (name: string) => Deno.readFile(new URL(name, SOUNDS));

for (const name of FILES) {
  Deno.test(`${name} has the samples that others decode and resample`, async () => {
    const got = await decodeSound(await bytesOf(name));
    const expected = await decodeSound(await bytesOf(name.replace(/\w+$/, "wav")));
    assertEquals(got.length, expected.length);
    const worst = got.reduce((most, value, i) => Math.max(most, Math.abs(value - expected[i])), 0);
    // 16 bits have steps of 3e-5, and both filters let -80 dB through.
    assert(worst < 3e-4, `differs by ${worst}`);
    assertEquals(await decodeSound(pathOf(name)), got);
  });
}

Deno.test("a file is read from a disk in pieces", async () => {
  const path = await Deno.makeTempFile();
  try {
    const samples = randomFloats(400_000, 3).map((value) => value / 2);
    await Deno.writeFile(path, wavOf(samples));
    assertEquals(await decodeSound(path), await decodeSound(wavOf(samples)));
  } finally {
    await Deno.remove(path);
  }
});

Deno.test("a recording of a browser has no sizes, and may lace packets in any way", async () => {
  const expected = await decodeSound(await bytesOf("voice.webm"));
  const stream = openWebm(new SoundInput(await bytesOf("voice.webm")));
  const packets = [...stream.packets()].flatMap((packet) => packet ? [packet.bytes] : []);
  for (const lacing of [0, 1, 3]) {
    const file = recordingOf({ header: stream.headers[0], packets, lacing });
    const got = await decodeSound(file);
    // What the end lacks of a packet only the first file tells.
    assert(got.length >= expected.length);
    assertEquals(got.subarray(0, 6000), expected.subarray(0, 6000), `lacing ${lacing}`);
  }
  const equal = packets.map(() => packets[0]);
  const laced = recordingOf({ header: stream.headers[0], packets: equal, lacing: 2 });
  const single = recordingOf({ header: stream.headers[0], packets: equal, lacing: 0 });
  assertEquals(await decodeSound(laced), await decodeSound(single));
});

Deno.test("an MP3 file may have tags and junk around its frames, and a damaged frame is silent", async () => {
  const file = await bytesOf("low.mp3");
  const expected = await decodeSound(file);
  const tag = Uint8Array.of(
    0x49,
    0x44,
    0x33,
    4,
    0,
    0,
    0,
    0,
    1,
    2,
    ...new Uint8Array(130).fill(0xff),
  );
  const end = new TextEncoder().encode("TAG".padEnd(128));
  assertEquals(await decodeSound(Uint8Array.from([...tag, ...file, ...end])), expected);
  const damaged = Uint8Array.from(file);
  damaged.fill(0xaa, 1000, 1010);
  assertEquals((await decodeSound(damaged)).length, expected.length);
});

const text = (value: string) => Uint8Array.from(value, (character) => character.charCodeAt(0));

const REFUSED: [name: string, bytes: () => Uint8Array | Promise<Uint8Array>, message: RegExp][] = [
  ["M4A", () => text("\0\0\0\x20ftypM4A \0\0\0\0"), /MP4, M4A or AAC is not supported.*ffmpeg/],
  ["a file of AAC", () => text("\xff\xf1\x50\x80\x02\x1f\xfc"), /AAC is not supported/],
  ["AIFF", () => text("FORM\0\0\0\0AIFF"), /AIFF is not supported/],
  ["a text", () => text("hello, this is no sound"), /its format is not supported/],
  ["an Ogg file that is cut", async () => (await bytesOf("tone.ogg")).slice(0, -9), /incomplete/],
  ["a WebM file that is cut", async () => (await bytesOf("voice.webm")).slice(0, -9), /incomplete/],
  ["a changed byte of an Ogg file", async () => {
    const bytes = await bytesOf("tone.ogg");
    bytes[5000] ^= 1;
    return bytes;
  }, /checksum of its page differs/],
  ["sounds of Ogg one after the other", async () => {
    const bytes = await bytesOf("tone.ogg");
    return Uint8Array.from([...bytes, ...bytes]);
  }, /several sounds one after the other/],
  [
    "WebM with AAC",
    () => recordingOf({ codec: "A_AAC", header: new Uint8Array(2), packets: [], lacing: 0 }),
    /a sound in A_AAC/,
  ],
  [
    "a packet of Opus that contradicts itself",
    async () => {
      const { headers } = openWebm(new SoundInput(await bytesOf("voice.webm")));
      // Two frames of one size in three bytes.
      return recordingOf({ header: headers[0], packets: [Uint8Array.of(1, 2, 3, 4)], lacing: 0 });
    },
    /a packet of Opus is damaged/,
  ],
];

for (const [name, bytes, message] of REFUSED) {
  Deno.test(`${name} is refused`, async () => {
    const error = await assertRejects(async () => await decodeSound(await bytes()), AudioError);
    assert(message.test((error as Error).message), (error as Error).message);
  });
}

/** Damaged files of each format. */
const DAMAGED = share(50, 200);

for (const name of FILES) {
  Deno.test(`${DAMAGED} damaged files like ${name} are read or refused, and nothing hangs`, async () => {
    const file = await bytesOf(name);
    const random = randomFloats(4_000, name.length);
    const pick = (i: number, most: number) => Math.floor((random[i] + 1) / 2 * most) % most;
    const began = performance.now();
    for (let i = 0; i < DAMAGED; i++) {
      const damaged = Uint8Array.from(file);
      for (let k = 0; k < 8; k++) {
        const at = pick(20 * i + 2 * k, k % 2 ? damaged.length : Math.min(damaged.length, 400));
        const value = pick(20 * i + 2 * k + 1, 256);
        // Half are single bits, half are sizes and numbers as large as they can be.
        damaged[at] = i % 4 < 2 ? damaged[at] ^ 1 << value % 8 : i % 4 === 2 ? 255 : value;
      }
      if (name.endsWith("ogg") || name.endsWith("opus")) mendChecksums(damaged);
      const end = i % 5 ? damaged.length : pick(20 * i + 19, damaged.length);
      await decodeSound(damaged.subarray(0, end), { longest: 60 }).catch((error) => {
        if (!(error instanceof AudioError)) throw error;
      });
    }
    assert(performance.now() - began < 60_000);
  });
}

/** Gives pages of Ogg the checksums that they should have, so that the damage reaches the codec. */
function mendChecksums(file: Uint8Array): void {
  const view = new DataView(file.buffer);
  for (
    let at = 0;
    at + 27 <= file.length && String.fromCharCode(...file.subarray(at, at + 4)) === "OggS";
  ) {
    const lengths = file.subarray(at + 27, at + 27 + file[at + 26]);
    const size = 27 + lengths.length + lengths.reduce((sum, length) => sum + length, 0);
    view.setUint32(at + 22, 0, true);
    let crc = 0;
    for (const byte of file.subarray(at, at + size)) {
      crc ^= byte << 24;
      for (let bit = 0; bit < 8; bit++) crc = crc < 0 ? crc << 1 ^ 0x04c11db7 : crc << 1;
    }
    view.setUint32(at + 22, crc >>> 0, true);
    at += size;
  }
}

Deno.test("the inverse cosine transform is that of its definition", () => {
  for (const size of [6, 32, 256]) {
    const spectrum = randomFloats(size, size);
    const got = new Float32Array(2 * size);
    new InverseMdct(size).transform(spectrum, got);
    for (let i = 0; i < 2 * size; i++) {
      const expected = spectrum.reduce(
        (sum, value, k) =>
          sum + value * Math.cos(Math.PI / size * (i + 0.5 + size / 2) * (k + 0.5)),
        0,
      );
      assert(Math.abs(got[i] - expected) < 1e-5, `${size} ${i}`);
    }
  }
});
