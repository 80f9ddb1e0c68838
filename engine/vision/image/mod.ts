// Pictures: from the bytes of a file to pixels. What a model makes of them is not known here.

export { decodeImage } from "./decode.ts";
export { ImageError } from "./errors.ts";
export { type Image, MAX_PIXELS } from "./image.ts";
