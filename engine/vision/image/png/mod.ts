// PNG files: from their bytes to pixels.

export { decodePng } from "./decode.ts";
