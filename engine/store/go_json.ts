// JSON in the format of Go's encoding/json: compact, with HTML's special characters escaped. So
// what we store has the same bytes, and the same digest, as what Ollama stores.

/** A value as text. Fields are in the order of the object. */
export function encodeGoJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
