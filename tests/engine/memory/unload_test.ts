// What a model held is given back when it is unloaded, however often. The full run loads a hundred
// times (QUERN_LOADS=100), the everyday one a few.

import { assert, assertEquals } from "@std/assert";
import { assemble } from "../../../engine/load/assemble.ts";
import { readGguf } from "../../../engine/gguf/mod.ts";
import { describeModel } from "../../../engine/load/inspect.ts";
import { memoryUse, totalOf } from "../../../engine/memory/mod.ts";
import { wholeOn } from "../../../engine/weights/mod.ts";
import { openDevice } from "../../../kernels/mod.ts";
import { writeTinyLlama } from "../../tiny_model.ts";
import { folder, tinyPath } from "../harness.ts";

const LOADS = Number(Deno.env.get("QUERN_LOADS") ?? 3);
/** The fewer loads, the less there is to find, and the less exact the memory before has to be. */
const SETTLE_MILLISECONDS = LOADS < 50 ? 2000 : 10_000;

Deno.test(`a process has what it had after ${LOADS} loads more, within 2%`, async () => {
  const quantized = { Q8_0: {}, Q4_K: { embedding: 256, heads: 8, feedForward: 512 } };
  const models = [tinyPath];
  for (const [type, shape] of Object.entries(quantized)) {
    const path = `${folder}/unload-${type}.gguf`;
    // A window this long takes more than the 2% by itself.
    await writeTinyLlama(path, { type, context: 8192, ...shape });
    models.push(path);
  }
  const program = new URL("unload_program.ts", import.meta.url).href;
  const options = ["--no-check", "--no-lock", "--v8-flags=--expose-gc"];
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", ...options, program, String(LOADS), String(SETTLE_MILLISECONDS), ...models],
  }).output();
  assertEquals(code, 0, new TextDecoder().decode(stderr));
  const { before, after } = JSON.parse(new TextDecoder().decode(stdout));
  const growth = after / before - 1;
  assert(growth < 0.02, `${before} bytes have become ${after}, ${(100 * growth).toFixed(1)}% more`);
});

Deno.test("a device that is disposed of holds nothing, and counted everything before", async () => {
  const gguf = await readGguf(tinyPath);
  const device = await openDevice();
  await assemble(gguf, describeModel(gguf), wholeOn(device), { maxSequences: 2 });
  assert(totalOf(memoryUse(device)) > 500_000);
  const held = [...device.allocated.values()].reduce((sum, bytes) => sum + bytes, 0);
  assertEquals(totalOf(memoryUse(device)), held, "a purpose that is not counted");
  device[Symbol.dispose]();
  assertEquals(device.allocated.size, 0);
});
