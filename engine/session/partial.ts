// The value of a JSON text that is still being written: what is open is closed, and what has only begun (a
// key, a literal, an escape) is left out.

/** The value of the beginning of a JSON text; undefined if there is none yet. */
export function parsePartial(text: string): unknown {
  for (let end = text.length; end > 0; end--) {
    const begun = text.slice(0, end);
    try {
      return JSON.parse(begun + closing(begun));
    } catch {
      // The last letters are no value yet: what is before them may be.
    }
  }
  return undefined;
}

/** What closes the string, the arrays and the objects that are open. */
function closing(text: string): string {
  const open: string[] = [];
  let isString = false;
  for (let i = 0; i < text.length; i++) {
    const letter = text[i];
    if (isString) {
      if (letter === "\\") i++;
      else if (letter === '"') isString = false;
    } else if (letter === '"') isString = true;
    else if (letter === "{") open.push("}");
    else if (letter === "[") open.push("]");
    else if (letter === "}" || letter === "]") open.pop();
  }
  return (isString ? '"' : "") + open.reverse().join("");
}
