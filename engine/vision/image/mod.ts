// Pictures: from the bytes of a file to pixels. Independent of models.

export { decodeImage, measureImage } from "./decode.ts";
export { type Image, ImageError, type Size } from "./image.ts";
