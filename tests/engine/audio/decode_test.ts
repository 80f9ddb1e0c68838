// Sound files to samples: every kind of sample of a WAV file, every kind of subframe of FLAC, the
// channels' mean, and files that are damaged or too long.

import { assert, assertEquals, assertRejects } from "@std/assert";
import { AudioError, decodeSound } from "../../../engine/audio/mod.ts";
import { randomFloats } from "../../numbers.ts";
import { flacFile, type Subframe, wavFile, wavOf } from "./sound_files.ts";

const WAV_CASES: [name: string, format: number, bits: number, data: number[], values: number[]][] =
  [
    ["PCM of 8 bits", 1, 8, [0, 128, 255], [-1, 0, 127 / 128]],
    ["PCM of 16 bits", 1, 16, [0, 128, 1, 0, 255, 127], [-1, 1 / 32768, 32767 / 32768]],
    ["PCM of 24 bits", 1, 24, [0, 0, 128, 1, 0, 0], [-1, 2 ** -23]],
    ["PCM of 20 bits in 24", 1, 20, [0, 0, 128, 16, 0, 0], [-1, 2 ** -19]],
    ["PCM of 32 bits", 1, 32, [0, 0, 0, 128, 0, 0, 0, 64], [-1, 0.5]],
    ["floats of 32 bits", 3, 32, [0, 0, 0, 191, 0, 0, 128, 62], [-0.5, 0.25]],
    ["floats of 64 bits", 3, 64, [0, 0, 0, 0, 0, 0, 224, 191], [-0.5]],
    // The outermost, middle and innermost values of G.711's tables.
    ["A-law", 6, 8, [0xaa, 0x2a, 0xd5, 0x55], [32256, -32256, 8, -8].map((v) => v / 32768)],
    ["mu-law", 7, 8, [0x80, 0x00, 0xff, 0x7f], [32124, -32124, 0, -0].map((v) => v / 32768)],
  ];

for (const [name, format, bits, data, values] of WAV_CASES) {
  Deno.test(`a WAV file with ${name}`, async () => {
    for (const extensible of [false, true]) {
      const file = wavFile({ format, bits, extensible, data: Uint8Array.from(data) });
      assertEquals(
        [...await decodeSound(file)].map(String),
        values.map(String).map((v) => v === "-0" ? "0" : v),
        `${extensible}`,
      );
    }
  });
}

Deno.test("channels become their mean", async () => {
  const data = new Uint8Array(Int16Array.of(8192, 16384, 0, -16384).buffer);
  const file = wavFile({ format: 1, bits: 16, channels: 2, data });
  assertEquals([...await decodeSound(file)], [0.375, -0.25]);
});

Deno.test("a WAV file that was written to a pipe has the samples that are there", async () => {
  for (const size of [0, 0xffff_ffff, 0x7fff_f000]) {
    const data = new Uint8Array(Int16Array.of(1, 2, 3).buffer);
    const file = wavFile({ format: 1, bits: 16, data, size });
    assertEquals([...await decodeSound(file)].map((v) => v * 32768), [1, 2, 3]);
  }
});

/** Values that any predictor follows, not exactly. */
function wave(length: number, phase = 0): Int32Array {
  return Int32Array.from(
    { length },
    (_, i) => Math.round(9000 * Math.sin(i / 9 + phase) + 60 * Math.sin(i * i)),
  );
}

const SUBFRAMES: Subframe[] = [
  { kind: "verbatim" },
  ...[0, 1, 2, 3, 4].map((order) => ({ kind: "fixed", order } as const)),
  { kind: "predicted", factors: [1900, -1000, 40], shift: 10 },
  {
    kind: "predicted",
    factors: Array.from({ length: 32 }, (_, i) => i === 0 ? 500 : i % 3 - 1),
    shift: 9,
  },
];

for (const subframe of SUBFRAMES) {
  const order = subframe.kind === "fixed"
    ? subframe.order
    : "factors" in subframe
    ? subframe.factors.length
    : "";
  Deno.test(`FLAC: channels that are ${subframe.kind} ${order}`, async () => {
    for (const assignment of [1, 8, 9, 10]) {
      for (const escaped of [false, true]) {
        const channels = [wave(192), wave(192, 0.2)];
        const blocks = [{ channels, assignment, subframe, escaped }, { channels, subframe }];
        const got = await decodeSound(flacFile(blocks));
        const mean = channels[0].map((value, i) => value + channels[1][i]);
        assertEquals(
          [...got].map((value) => value * 2 ** 16),
          [...mean, ...mean],
          `assignment ${assignment}`,
        );
      }
    }
  });
}

Deno.test("FLAC: constant channels, unused bits, and samples of 24 bits", async () => {
  const constant = [{
    channels: [new Int32Array(64).fill(-7)],
    subframe: { kind: "constant" } as const,
  }];
  assertEquals([...new Set([...await decodeSound(flacFile(constant))])], [-7 / 32768]);
  const values = wave(64).map((value) => value * 8);
  const wasted = [{
    channels: [values],
    subframe: { kind: "fixed", order: 2 } as const,
    wasted: 3,
  }];
  const got = await decodeSound(flacFile(wasted, { bits: 24 }));
  assertEquals([...got].map((value) => value * 2 ** 23), [...values]);
});

const FLAC = flacFile([{ channels: [wave(192)], subframe: { kind: "fixed", order: 2 } }]);
const WAV = wavOf(Float32Array.from({ length: 300 }, (_, i) => Math.sin(i / 10)));

const REFUSED: [name: string, bytes: Uint8Array, message: RegExp][] = [
  ["an empty file", new Uint8Array(), /the file is empty/],
  ["a text", new TextEncoder().encode("hello"), /its format is not supported, only WAV, FLAC/],
  ["a piece of Ogg", new TextEncoder().encode("OggS and so on"), /within the header of a page/],
  ["a WAV file that is cut", WAV.subarray(0, 300), /it has 256 of|has 256 of its 600 bytes/],
  ["a WAV header that is cut", WAV.subarray(0, 30), /ends within its chunk "fmt "/],
  ["a WAV file without samples", WAV.subarray(0, 36), /its chunk "data" is missing/],
  ["a WAV file of ADPCM", wavFile({ format: 0x11, bits: 4, data: new Uint8Array(8) }), /IMA ADPCM/],
  [
    "a WAV file without rate",
    wavFile({ format: 1, bits: 16, rate: 0, data: new Uint8Array(8) }),
    /0 samples a second/,
  ],
  [
    "a WAV file without channels",
    wavFile({ format: 1, bits: 16, channels: 0, data: new Uint8Array(8) }),
    /0 channels/,
  ],
  [
    "a WAV file with NaN",
    wavFile({ format: 3, bits: 32, data: new Uint8Array(Float32Array.of(1, NaN).buffer) }),
    /not finite/,
  ],
  ["a FLAC file that is cut", FLAC.subarray(0, 100), /it is incomplete/],
  ["a FLAC header that is cut", FLAC.subarray(0, 20), /ends within its header/],
  [
    "a FLAC file that lacks samples",
    flacFile([{ channels: [wave(192)], subframe: { kind: "verbatim" } }], { length: 200 }),
    /has 192 of its 200 samples/,
  ],
];

for (const [name, bytes, message] of REFUSED) {
  Deno.test(`${name} is refused`, async () => {
    const error = await assertRejects(() => decodeSound(bytes), AudioError);
    assert(message.test((error as Error).message), (error as Error).message);
  });
}

Deno.test("a changed byte of a FLAC frame is noticed", async () => {
  for (let at = 46; at < FLAC.length; at++) {
    const damaged = Uint8Array.from(FLAC);
    damaged[at] ^= 0x10;
    await assertRejects(() => decodeSound(damaged), AudioError);
  }
});

Deno.test("a sound longer than the limit is refused, whatever its header says", async () => {
  await assertRejects(() => decodeSound(WAV, { longest: 0.01 }), AudioError, "limit");
  const open = flacFile([{ channels: [wave(192)], subframe: { kind: "verbatim" } }], { length: 0 });
  await assertRejects(() => decodeSound(open, { longest: 0.01 }), AudioError, "limit");
});

Deno.test("decoding is cancelled", async () => {
  const reason = new Error("enough");
  const signal = AbortSignal.abort(reason);
  await assertRejects(() => decodeSound(WAV, { signal }), Error, "enough");
});

Deno.test("200 damaged files are read or refused, and nothing hangs", async () => {
  const random = randomFloats(2_000, 11);
  const pick = (i: number, most: number) => Math.floor((random[i] + 1) / 2 * most) % most;
  for (let i = 0; i < 200; i++) {
    const damaged = Uint8Array.from(i % 2 ? FLAC : WAV);
    for (let k = 0; k < 8; k++) {
      // Mostly in the header, where sizes are.
      const at = pick(10 * i + k, k % 2 ? damaged.length : 60);
      damaged[at] = pick(10 * i + k + 1, 256);
    }
    const end = i % 5 ? damaged.length : pick(10 * i + 9, damaged.length);
    await decodeSound(damaged.subarray(0, end), { longest: 60 }).catch((error) => {
      if (!(error instanceof AudioError)) throw error;
    });
  }
});
