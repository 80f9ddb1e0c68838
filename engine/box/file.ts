// The model in the box, as a file: what the server offers where the store has no other model.

import { fileURLToPath } from "node:url";

/** Name and path of the model; `deno compile` embeds the file. */
export const BOX_MODEL: { readonly name: string; readonly path: string } = {
  name: "quern:tiny",
  path: fileURLToPath(new URL("quern-tiny.gguf", import.meta.url)),
};
