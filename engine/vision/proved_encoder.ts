// The encoder of a model's images as a part by which its device is proved.

import type { GgufFile } from "../gguf/mod.ts";
import { type ProvedPart, proveEncoder } from "../proof/mod.ts";
import { type ImageEncoder, loadImageEncoder } from "./encoder.ts";
import type { ImageSize } from "./network/patch_grid.ts";

/** About as many patches the image has, more than any tile of a product. */
const PATCHES = 70;

/** The encoder that was loaded from a file, as a part of its model. */
export function provedEncoder(file: GgufFile, encoder: ImageEncoder): ProvedPart {
  const size = smallImage(encoder);
  const patches = size.width * size.height / encoder.layout.patchSize ** 2;
  const pixels = Float32Array.from(
    { length: 3 * size.width * size.height },
    (_, i) => Math.sin(12.9898 * i),
  );
  return {
    name: "the image encoder",
    file,
    prove: async () =>
      await proveEncoder(
        await encoder.operationsFor(pixels, size),
        async (device, where) => {
          const twin = await loadImageEncoder(file, device, { patches, ...where });
          const step = await twin.operationsFor(pixels, size);
          return { ...step, [Symbol.dispose]: () => twin[Symbol.dispose]() };
        },
      ),
  };
}

/** The size of an image of few patches, wider than high. */
function smallImage({ layout: { patchSize, merge }, most }: ImageEncoder): ImageSize {
  const tokensOf = (patches: number) => patches / merge ** 2;
  const tokens = Math.ceil(tokensOf(Math.min(PATCHES, most)));
  const columns = Math.min(Math.ceil(Math.sqrt(tokens)) + 1, tokensOf(most));
  const lines = Math.min(Math.ceil(tokens / columns), Math.floor(tokensOf(most) / columns));
  const side = patchSize * merge;
  return { width: columns * side, height: lines * side };
}
