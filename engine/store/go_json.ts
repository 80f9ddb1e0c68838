// JSON in the format of Go's encoding/json: compact, with HTML's special characters escaped. So
// what we store has the same bytes, and the same digest, as what Ollama stores.

/** A value as text. Fields are in the order of the object. */
export function encodeGoJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** The bytes of a blob with a value. Members are in the order of the object. */
export function encodeDocument(value: unknown): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(encodeGoJson(value) + "\n");
}

/** An object with its members ordered by name, as Go writes its maps. */
export function sortedByName<T>(object: Readonly<Record<string, T>>): Record<string, T> {
  return Object.fromEntries(Object.entries(object).sort(([a], [b]) => a < b ? -1 : 1));
}
