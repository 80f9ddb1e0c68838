// The rows that audio encoders make of sounds, and their features, against those of llama.cpp for the same
// files.

import { assert, assertEquals } from "@std/assert";
import { decodeSound } from "../../../engine/audio/mod.ts";
import { loadSoundEncoder } from "../../../engine/hearing/mod.ts";
import { openDevice } from "../../../kernels/mod.ts";
import { conformanceTest } from "../../conformance/logits.ts";
import { nmse } from "../../numbers.ts";
import { firstOf } from "../../share.ts";
import {
  encodeSound,
  FIXTURES,
  pathOf,
  readFixture,
  readFloats,
  readManifest,
  recordedRows,
} from "./fixtures.ts";

/** Most error of rows, which is what half-precision weights would be off by. */
const MOST = 1e-6;

for (const name of firstOf(FIXTURES, 4)) {
  conformanceTest(`audio encoder ${name} gives the rows of llama.cpp`, async () => {
    const manifest = await readManifest(name);
    using device = await openDevice();
    using encoder = await loadSoundEncoder(await readFixture(name), device);
    for (const [sound, record] of Object.entries(manifest.sounds)) {
      const bytes = await Deno.readFile(pathOf(name, record.file));
      const samples = await decodeSound(bytes, { rate: encoder.features.rate });
      const windows = await encoder.features.read(samples);
      assertEquals(windows.map(({ frames }) => frames), record.windows.map(({ n_len }) => n_len));
      assertEquals(encoder.features.windows(samples.length), windows.map(({ frames }) => frames));
      assertEquals(
        windows.map(({ frames }) => encoder.tokensOf(frames)),
        record.windows.map(({ n_tokens }) => n_tokens),
      );
      const known = await readFloats(name, record.embd);
      const rows = recordedRows(await encodeSound(encoder, bytes), record);
      const error = nmse(rows, known);
      assert(error <= MOST, `${name}, ${sound}: NMSE ${error}`);
    }
  });
}
