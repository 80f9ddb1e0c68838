// The model in the box: its name and its file, which the server lists after the models of the store.
// What trained, exported and measures it is in bench/box; nothing that serves imports that.

import { fileURLToPath } from "node:url";

/** Name and path of the model; `deno compile` embeds the file. */
export const BOX_MODEL: { readonly name: string; readonly path: string } = {
  name: "quern:tiny",
  path: fileURLToPath(new URL("./quern-tiny.gguf", import.meta.url)),
};
