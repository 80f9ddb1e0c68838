// A parser of the rest of an answer whose beginning is known already. The beginning passes through
// the parser, which may be within thinking, a mark or a call after it, but none of it is given out.

import type { AnswerEvent, AnswerParser } from "./types.ts";

/**
 * The parser, after the beginning of an answer. Events of later pushes are what is new, except for
 * a call that has begun, which comes as a whole.
 *
 * @param begun text of the answer; empty: there is none
 */
export function continueParser(parser: AnswerParser, begun: string): AnswerParser {
  if (begun === "") return parser;
  parser.push(begun);
  let known = parser.held;
  const withoutKnown = (events: AnswerEvent[]) =>
    events.flatMap((event) => {
      if (known === "") return event;
      const length = "text" in event ? sharedLength(event.text, known) : 0;
      // If anything else comes, what was held back was part of a mark.
      known = length === 0 ? "" : known.slice(length);
      if (length === 0 || !("text" in event)) return event;
      const text = event.text.slice(length);
      return text === "" ? [] : { ...event, text };
    });
  return {
    get held() {
      return parser.held.slice(known.length);
    },
    push: (text) => withoutKnown(parser.push(text)),
    end: (end) => withoutKnown(parser.end(end)),
  };
}

/** The length of the shorter text if the other begins with it, else 0. */
function sharedLength(text: string, other: string): number {
  const length = Math.min(text.length, other.length);
  return text.slice(0, length) === other.slice(0, length) ? length : 0;
}
