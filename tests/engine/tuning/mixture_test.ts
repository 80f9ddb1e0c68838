// A mixture of experts for whose products choices are kept: the next load takes them, with the same
// answers.

import { assert, assertEquals } from "@std/assert";
import { tileName } from "../../../kernels/webgpu/mod.ts";
import { expertTiles } from "../../../kernels/webgpu/candidates.ts";
import { hasAdapter, webGpuTest } from "../../adapter.ts";
import { conformanceTest } from "../../conformance/logits.ts";
import { deviceProfile, profileNamed } from "../../profiles.ts";
import { othersWith, productsOf } from "./mixture_case.ts";

const PROFILE = profileNamed("software, no subgroups");

const test = hasAdapter ? conformanceTest : webGpuTest;

test("choices for experts are taken at the next load, with the same answers", async () => {
  const kept = [...productsOf(1, 1), ...productsOf(4, 4)].flatMap((of) => {
    const [, other] = expertTiles(deviceProfile(PROFILE), of);
    return other ? [{ of, chosen: tileName(other) }] : [];
  });
  assert(kept.length > 2);
  assertEquals(await othersWith(PROFILE, 4, kept), kept.length);
});
