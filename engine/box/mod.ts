// The model in the box: its name and its file, which the server lists after the models of the
// store. bench/box trains, exports and measures it; nothing that serves imports bench/box.

import { pathOf } from "../../host/mod.ts";

/** Name and path of the model; `deno compile` embeds the file. */
export const BOX_MODEL: { readonly name: string; readonly path: string } = {
  name: "quern:tiny",
  get path() {
    return pathOf(new URL("./quern-tiny.gguf", import.meta.url));
  },
};
