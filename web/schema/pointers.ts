// Where the values of a JSON text stand in it, by their JSON pointers. Pure.

/** Where something stands in the text of a format, in UTF-16 units. */
export type Span = readonly [start: number, end: number];

/** From the pointer of each value of a JSON text to where it stands there, its key included. */
export function spansOf(source: string): Map<string, Span> {
  const spans = new Map<string, Span>();
  let at = 0;
  const skip = () => {
    while (/\s/.test(source[at] ?? "")) at++;
  };
  const read = (pointer: string, start: number): void => {
    skip();
    const open = source[at];
    if (open === "{" || open === "[") {
      const close = open === "{" ? "}" : "]";
      at++;
      for (let index = 0; skip(), at < source.length && source[at] !== close; index++) {
        const from = at;
        let name = String(index);
        if (open === "{") {
          const end = endOfString(source, at);
          if (end < 0) return void (at = source.length);
          name = escape(readString(source.slice(at, end)));
          at = end;
          skip();
          at++;
        }
        read(`${pointer}/${name}`, from);
        skip();
        if (source[at] === ",") at++;
      }
      at++;
    } else if (open === '"') {
      const end = endOfString(source, at);
      at = end < 0 ? source.length : end;
    } else {
      while (at < source.length && !/[,\]}\s]/.test(source[at]!)) at++;
    }
    spans.set(pointer, [start, at]);
  };
  skip();
  read("", at);
  return spans;
}

/** Where the innermost of some rules stand in the text of a schema, in order: those around would mark nearly all. */
export function spansOfRules(schema: string, pointers: readonly string[]): Span[] {
  if (pointers.length === 0) return [];
  const spans = spansOf(schema);
  const inner = pointers.filter((one) =>
    !pointers.some((other) => other !== one && other.startsWith(`${one}/`))
  );
  return inner.flatMap((pointer) => {
    const span = spans.get(pointer);
    return span ? [span] : [];
  }).sort(([a], [b]) => a - b);
}

function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === '"') return at + 1;
  }
  return -1;
}

function readString(source: string): string {
  try {
    return JSON.parse(source);
  } catch {
    return source.slice(1, -1);
  }
}

function escape(key: string): string {
  return key.replaceAll("~", "~0").replaceAll("/", "~1");
}
