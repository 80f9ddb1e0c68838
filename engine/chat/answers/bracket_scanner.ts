// Follows the brackets of JSON text (RFC 8259) that comes in pieces, to tell where a value ends.
// Strings and their escapes are respected; whether the text is right otherwise, a parser must say.

const QUOTE = '"'.charCodeAt(0);

const BACKSLASH = "\\".charCodeAt(0);

const SPACE = " ".charCodeAt(0);

/** What may stand in JSON outside strings, besides brackets and quotes. */
const OUTSIDE = /[\w\s.,:+-]/;

/** Counts brackets until as many are open as were outside of a value. */
export class BracketScanner {
  /** "broken": something came that JSON does not have, so that no end will be found. */
  state: "open" | "closed" | "broken" = "open";
  #depth: number;
  #isInString = false;
  #isEscaped = false;

  /** @param depth brackets that are open where the text begins */
  constructor(depth: number) {
    this.#depth = depth;
  }

  /**
   * Goes on until a bracket closes that leaves no more than `depth` open.
   *
   * @returns the index behind that bracket or of what breaks the text, or else its length
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

/** Brackets of a text that it does not close. */
export function openBrackets(text: string): number {
  const opened = text.match(/[{[]/g)?.length ?? 0;
  const closed = text.match(/[}\]]/g)?.length ?? 0;
  return Math.max(0, opened - closed);
}
