// JPEG files: their segments, and a decoder for those that are common.

export { decodeJpeg } from "./decode.ts";
export { Marker, readSegments, startsWith } from "./segments.ts";
