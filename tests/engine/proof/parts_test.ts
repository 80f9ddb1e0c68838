// The proof of a device by what drafts for a model: a wrong kernel there makes its answers slow.

import { assert, assertEquals } from "@std/assert";
import { join } from "node:path";
import { writeTinyLlama } from "../../tiny_model.ts";
import { writeAgreeing } from "../generate/agreeing_head.ts";
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

const reverseLast: NonNullable<Lie["spoil"]>[string] = ({ rows }) => void rows.at(-1)!.reverse();
