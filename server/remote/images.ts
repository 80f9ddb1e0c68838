// Images as the APIs of other servers take them. Pure.

/** Types of media by how the base64 of their files starts. */
const TYPES: [start: string, type: string][] = [
  ["iVBORw0KGgo", "image/png"],
  ["/9j/", "image/jpeg"],
  ["UklGR", "image/webp"],
  ["R0lGOD", "image/gif"],
  ["Qk", "image/bmp"],
];

/** The base64 of an image. */
export function base64Of(image: Uint8Array | string): string {
  return typeof image === "string" ? image : image.toBase64();
}

/** An image as a data URL. */
export function dataUrlOf(image: Uint8Array | string): string {
  const base64 = base64Of(image);
  const [, type = "application/octet-stream"] = TYPES.find(([start]) => base64.startsWith(start)) ??
    [];
  return `data:${type};base64,${base64}`;
}
