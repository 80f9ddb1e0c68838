// JSON blobs of models in the very bytes that Ollama writes, so that what is the same for it has the
// same digest here and needs no second blob.

import { encodeGoJson } from "../store/mod.ts";

/** The bytes of a value; members stand in the order in which the object has them. */
export function encodeDocument(value: unknown): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(encodeGoJson(value) + "\n");
}

/** An object with its members by name, as Go writes its maps. */
export function sortedByName<T>(object: Readonly<Record<string, T>>): Record<string, T> {
  return Object.fromEntries(Object.entries(object).sort(([a], [b]) => a < b ? -1 : 1));
}
