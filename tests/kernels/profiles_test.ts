// Products as real GPUs do them: the tiles that once broke off in an int8 group or wanted more memory
// than there is, and each way to add up the sums of a team. All profiles and products are computed by `deno task test:profiles`.

import { assertAttention } from "./attention_case.ts";
import { assertProduct, openPretended, type ProductCase } from "./product_profiles.ts";
import { profileNamed } from "../profiles.ts";
import { webGpuTest } from "../adapter.ts";

const GATED: ProductCase = { format: "Q8_0", sides: 2, integer: true, quantized: true };

const CASES: [profile: string, product: ProductCase, steps: number[]][] = [
  ["subgroups of 32,64, 32 KiB", GATED, [5, 8]],
  ["subgroups of 32,32, 32 KiB", GATED, [5]],
  ["subgroups of 64,64, 32 KiB", GATED, [1]],
  ["subgroups of 8,32, 16 KiB", GATED, [1]],
  ["no subgroups, 16 KiB", GATED, [1]],
];

for (const [profile, product, steps] of CASES) {
  const { format, sides } = product;
  webGpuTest(`${sides} sides of ${format} with ${profile}: steps of ${steps} rows`, async () => {
    using device = await openPretended(profileNamed(profile));
    await assertProduct(device, product, steps);
  });
}

webGpuTest(
  "attention in decode, whose teams take different positions, with splits that grow",
  async () => {
    using device = await openPretended(profileNamed("subgroups of 32,64, 32 KiB"));
    const shape = { heads: 2, kvHeads: 1, headDim: 64, half: true, quantized: true, tileRows: 1 };
    const sequences = [[1, 1], [33, 1], [200, 1]] as const;
    await assertAttention(device, { ...shape, split: 64, sequences });
    await assertAttention(device, { ...shape, split: 16, maxSplits: 4, sequences });
  },
);
