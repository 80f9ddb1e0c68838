// Texts of clients cut to a length before they are kept, logged or answered: a request may hold
// megabytes of text in any of its parts, and what is kept of it must not. Pure.

/** The text, or its beginning and how long it is. The result is a little longer than `most`. */
export function bounded(text: string, most: number): string {
  if (text.length <= most) return text;
  return `${text.slice(0, most).toWellFormed()}… (${text.length} characters)`;
}
