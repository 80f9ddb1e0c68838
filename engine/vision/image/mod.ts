// Pictures: from the bytes of a file to pixels. What a model makes of them is not known here.

export { decodeImage, measureImage } from "./decode.ts";
export { type Image, ImageError, MAX_PIXELS, type Size } from "./image.ts";
