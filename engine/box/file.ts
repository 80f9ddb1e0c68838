// The model in the box, as a file: which the server lists after those of the store.

import { fileURLToPath } from "node:url";

/** Name and path of the model; `deno compile` embeds the file. */
export const BOX_MODEL: { readonly name: string; readonly path: string } = {
  name: "quern:tiny",
  path: fileURLToPath(new URL("quern-tiny.gguf", import.meta.url)),
};
