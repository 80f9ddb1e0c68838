// What the builders of requests to other servers share: schemas, and images as those APIs take them.
// Pure.

import { parseExactJson, RequestError } from "../../engine/mod.ts";

/**
 * A JSON Schema as a value.
 *
 * @throws {RequestError} if it is a text that is no JSON
 */
export function schemaOf({ schema }: { schema: unknown }): unknown {
  if (typeof schema !== "string") return schema;
  try {
    return parseExactJson(schema);
  } catch (error) {
    throw new RequestError("Cannot read the JSON Schema of the format: it is no JSON", {
      cause: error,
    });
  }
}

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

export function dataUrlOf(image: Uint8Array | string): string {
  const base64 = base64Of(image);
  const [, type = "application/octet-stream"] = TYPES.find(([start]) => base64.startsWith(start)) ??
    [];
  return `data:${type};base64,${base64}`;
}
