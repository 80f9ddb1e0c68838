// Follows the brackets of JSON text (RFC 8259) that comes in pieces, to find the end of a value. It
// respects strings and their escapes, but does not check the JSON otherwise.

const QUOTE = '"'.charCodeAt(0);

const BACKSLASH = "\\".charCodeAt(0);

const SPACE = " ".charCodeAt(0);

/** Characters of JSON outside strings, besides brackets and quotes. */
const OUTSIDE = /[\w\s.,:+-]/;

/** Counts open brackets until a value is complete. */
export class BracketScanner {
  /** "broken": a character that JSON cannot contain, so that no end will be found. */
  state: "open" | "closed" | "broken" = "open";
  #depth: number;
  #isInString = false;
  #isEscaped = false;

  /** @param depth number of brackets that are open at the beginning of the text */
  constructor(depth: number) {
    this.#depth = depth;
  }

  /**
   * Continues until a closing bracket leaves at most `depth` brackets open.
   *
   * @returns the index after that bracket, or of the character that is not JSON, or else the text's
   *   length
   */
  scan(text: string, depth: number): number {
    if (this.state === "closed") this.state = this.#depth <= depth ? "closed" : "open";
    let at = 0;
    while (at < text.length && this.state === "open") {
      const code = text.charCodeAt(at);
      this.state = this.#isInString ? this.#inString(code) : this.#outside(text[at]!, depth);
      if (this.state !== "broken") at++;
    }
    return at;
  }

  #inString(code: number): "open" | "broken" {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (code === BACKSLASH) this.#isEscaped = true;
    else if (code === QUOTE) this.#isInString = false;
    else if (code < SPACE) return "broken";
    return "open";
  }

  #outside(character: string, depth: number): "open" | "closed" | "broken" {
    switch (character) {
      case "{":
      case "[":
        this.#depth++;
        return "open";
      case "}":
      case "]":
        return --this.#depth <= depth ? "closed" : "open";
      case '"':
        this.#isInString = true;
        return "open";
      default:
        return OUTSIDE.test(character) ? "open" : "broken";
    }
  }
}

/** Number of brackets that a text leaves open. */
export function openBrackets(text: string): number {
  const opened = text.match(/[{[]/g)?.length ?? 0;
  const closed = text.match(/[}\]]/g)?.length ?? 0;
  return Math.max(0, opened - closed);
}
