// Where a document that is being written is: the keys and indices of its open objects and arrays, and what
// of it has ended. For reports and the message of an error, so nothing but JSON is expected.

/** A string, number or word of which the end may be missing. */
export class OpenScalar {
  /** @param text as it is written */
  constructor(readonly text: string) {}
}

/** A document as far as it is written. */
export interface OpenDocument {
  /** The keys and indices that lead to the value that is open: the object itself while a key is written. */
  readonly path: readonly (string | number)[];
  /**
   * The document up to there, with an {@linkcode OpenScalar} where a scalar is open; undefined if
   * nothing is written.
   */
  readonly value: unknown;
}

/** Reads the beginning of a JSON document. */
export function openDocument(text: string): OpenDocument {
  const open: { end: "]" | "}"; step: string | number | undefined }[] = [];
  let string = "";
  /** The end of what has ended; objects and arrays that are open there are still open at the end. */
  let ended = 0;
  /** Where the value begins that may be open at the end. */
  let begun = 0;
  for (const { 0: part, index } of text.matchAll(/"(?:[^"\\]|\\.)*"?|[[\]{},:]/gsu)) {
    const top = open.at(-1);
    if (part === "[") open.push({ end: "]", step: 0 });
    else if (part === "{") open.push({ end: "}", step: undefined });
    else if (part === "]" || part === "}") open.pop();
    else if (part === ",") {
      if (top) top.step = typeof top.step === "number" ? top.step + 1 : undefined;
    } else if (part === ":" && top) top.step = JSON.parse(string);
    else string = part;
    if (/[[\]{},]/.test(part[0]!)) ended = part === "," ? index : index + 1;
    if (part.length === 1 && part !== '"') begun = index + 1;
  }
  const isKey = open.at(-1)?.end === "}" && open.at(-1)?.step === undefined;
  const ends = open.map(({ end }) => end).reverse().join("");
  const path = open.flatMap(({ step }) => step === undefined ? [] : [step]);
  const scalar = isKey ? "" : text.slice(begun).trim();
  const value: unknown = ended > 0 ? JSON.parse(text.slice(0, ended) + ends) : undefined;
  if (scalar === "") return { path, value };
  const last = path.at(-1);
  if (last === undefined) return { path, value: value ?? new OpenScalar(scalar) };
  const around = path.slice(0, -1).reduce((inner, step) => inner[step], value as Containers);
  (around as Record<string | number, unknown>)[last] = new OpenScalar(scalar);
  return { path, value };
}

interface Containers {
  readonly [step: string | number]: Containers;
}
