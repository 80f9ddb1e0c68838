// JSON as Go's encoding/json writes it, so that what we store has the same bytes, and hence the same
// digest, as what Ollama stores: compact, with the characters that HTML gives a meaning escaped.

/** The text of a value. The order of fields is that of the object. */
export function encodeGoJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
