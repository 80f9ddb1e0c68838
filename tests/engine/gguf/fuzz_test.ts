// Damaged files: whatever the bytes, the reader gives a header or raises GgufError, and does so
// without allocating what a damaged length asks for.

import { assertEquals, assertRejects } from "@std/assert";
import { GgufError } from "../../../engine/errors.ts";
import { readBytes, soundFile } from "./bytes.ts";
import { share } from "../../share.ts";

/** xorshift32: the same damage in every run. */
function randomSource(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
}

Deno.test("readGguf() raises GgufError for a file truncated at any byte", async () => {
  const bytes = soundFile();
  for (let length = 0; length < bytes.length; length++) {
    await assertRejects(() => readBytes(bytes.subarray(0, length)), GgufError);
  }
  assertEquals((await readBytes(bytes)).tensors.size, 3);
});

Deno.test("readGguf() reads or raises GgufError for files with damaged bytes", async () => {
  const sound = soundFile();
  const random = randomSource(20261121);
  // Edge values are what breaks lengths and counts; single bits break the rest.
  const edges = [0x00, 0x7f, 0x80, 0xff];
  const count = share(500, 2000);
  let errors = 0;
  for (let run = 0; run < count; run++) {
    const bytes = sound.slice();
    for (let damage = 0; damage <= random(3); damage++) {
      const at = random(bytes.length);
      bytes[at] = random(2) === 0 ? edges[random(edges.length)] : bytes[at] ^ (1 << random(8));
    }
    try {
      await readBytes(bytes);
    } catch (error) {
      if (!(error instanceof GgufError)) throw error;
      errors++;
    }
  }
  // Both outcomes have to occur, or the damage tests nothing.
  assertEquals(
    errors > 0.25 * count && errors < 0.95 * count,
    true,
    `${errors} of ${count} files raised an error`,
  );
});
