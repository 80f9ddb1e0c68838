// Idefics3 and SmolVLM (Laurençon et al. 2024, Marafioti et al. 2025): SigLIP, whose patches are
// joined by squares (pixel shuffle). A picture comes in tiles, which the prompt names.

import { encodeSigLip } from "../network/blocks.ts";
import { outputsOf, type VisionFamily } from "../network/family.ts";
import type { Layout } from "../preprocess/mod.ts";

/** Idefics3 and SmolVLM: each square of patches as one vector, projected. */
export const idefics3: VisionFamily = {
  projector: "idefics3",
  pictures: { method: "idefics3", filter: "lanczos", merge: ["projector.scale_factor", 1] },
  marks: tileMarks,
  mayBeSwapped: true,
  columns: outputsOf("mm.model.fc.weight"),
  async build(image) {
    const { network, x } = image.tokens(await encodeSigLip(image));
    const name = "mm.model.fc.weight";
    const outputs = image.top.size(0, [[name, 1]]);
    const projection = await image.top.matrix(name, outputs, x.columns);
    return { output: network.linear(network.input(x, projection), projection, "embeddings") };
  },
};

const PART = "<fake_token_around_image>";

/** Tiles are named by row and column, line breaks end their rows, and the overview comes last. */
function tileMarks({ images, columns, rows }: Layout): string[] {
  const texts = images.map(({ role }, i) => {
    if (role !== "tile") return `${rows > 0 ? "\n\n" : ""}${PART}<global-img>`;
    const [row, column] = [Math.floor(i / columns), i % columns];
    const lineEnd = row > 0 && column === 0 ? "\n" : "";
    return `${lineEnd}${PART}<row_${row + 1}_col_${column + 1}>`;
  });
  return [...texts, PART];
}
