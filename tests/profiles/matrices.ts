// Products by subgroup matrices on every GPU that is pretended to have them, by plain loops.

import { webGpuTest } from "../adapter.ts";
import { assertMatrices, expertCases, formatsOf, matrixCases } from "../kernels/matrices_case.ts";
import { MATRIX_PROFILES } from "../profiles.ts";

for (const profile of MATRIX_PROFILES) {
  webGpuTest(`products by ${profile.name} are those of plain loops`, async () => {
    await assertMatrices(profile, matrixCases(formatsOf(profile)), expertCases());
  });
}
