// JSON blobs with the same bytes as Ollama's, so that equal contents have equal digests and are
// stored once.

import { encodeGoJson } from "../store/mod.ts";

/** The bytes of a value. Members are in the order of the object. */
export function encodeDocument(value: unknown): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(encodeGoJson(value) + "\n");
}

/** An object with its members ordered by name, as Go writes its maps. */
export function sortedByName<T>(object: Readonly<Record<string, T>>): Record<string, T> {
  return Object.fromEntries(Object.entries(object).sort(([a], [b]) => a < b ? -1 : 1));
}
