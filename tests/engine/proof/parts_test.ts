// The proof of a device by what drafts for a model, where a wrong kernel makes answers slow, and by encoders
// of images.

import { assert, assertEquals } from "@std/assert";
import { join } from "node:path";
import { writeTinyLlama } from "../../tiny_model.ts";
import { writeAgreeing } from "../generate/agreeing_head.ts";
import { readGguf } from "../../../engine/gguf/mod.ts";
import type { DeviceFault } from "../../../engine/tuning/mod.ts";
import { loadImageEncoder, provedEncoder } from "../../../engine/vision/mod.ts";
import { conformanceTest, DATA } from "../../conformance/logits.ts";
import { share } from "../../share.ts";
import { FIXTURES } from "../vision/fixtures.ts";
import { WIDTH } from "../reference/model.ts";
import { qwen3Next } from "../reference/qwen3_next.ts";
import { faultsOf } from "./faults.ts";
import { type Lie, lyingDevice } from "./lying_device.ts";

/** The columns of a draft model, which its model does not have. */
const DRAFT_WIDTH = 96;

Deno.test("a device is caught by the head that drafts for a model, and is right without a lie", async () => {
  const path = await writeAgreeing(qwen3Next);
  const faults = (spoil: Lie["spoil"] = {}) => faultsOf(path, () => lyingDevice({ spoil }));
  assertEquals(await faults(), []);
  const [fault] = await faults({
    // The embedding and the state, side by side, which a head alone has.
    elementwise: (written) => written.rows[0]!.length === 2 * WIDTH && reverseLast(written),
  });
  assert(fault && /^the head that drafts: copy of layer \d+ /.test(fault.what), fault?.what);
});

Deno.test("a device is caught by a draft model, and is right without a lie", async () => {
  const folder = await Deno.makeTempDir();
  const [path, draft] = ["model.gguf", "draft.gguf"].map((name) => join(folder, name));
  try {
    await writeTinyLlama(path!, { layers: 1 });
    await writeTinyLlama(draft!, { layers: 1, embedding: DRAFT_WIDTH });
    const faults = (spoil: Lie["spoil"] = {}) =>
      faultsOf(path!, () => lyingDevice({ spoil }), { draft: draft! });
    assertEquals(await faults(), []);
    const [fault] = await faults({
      embed: (written) => written.rows[0]!.length === DRAFT_WIDTH && reverseLast(written),
    });
    assert(fault?.what.startsWith("the draft model: embed F32 (residual)"), fault?.what);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

conformanceTest(
  "a device can be proved by image encoders, which are right without a lie",
  async () => {
    const step = share(9, 1);
    for (const [name] of FIXTURES.filter((_, i) => i % step === 0)) {
      const path = new URL(`vision/${name}/mmproj.gguf`, DATA);
      assertEquals(await encoderFaults(path, {}), [], name);
      const [fault] = await encoderFaults(path, { attention: reverseLast });
      assert(/^attention of layer 0 /.test(fault?.what ?? ""), `${name}: ${fault?.what}`);
    }
  },
);

/** What a device computes wrongly of an image encoder. */
async function encoderFaults(
  path: URL,
  spoil: NonNullable<Lie["spoil"]>,
): Promise<readonly DeviceFault[]> {
  const file = await readGguf(path);
  using device = await lyingDevice({ spoil });
  using encoder = await loadImageEncoder(file, device);
  return (await provedEncoder(file, encoder).prove()).faults;
}

const reverseLast: NonNullable<Lie["spoil"]>[string] = ({ rows }) => void rows.at(-1)!.reverse();
