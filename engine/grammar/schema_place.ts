// Which part of a schema is about a place in its documents, for the message of an error: by
// properties, items and references alone, so it may be a part around the right one.

/**
 * A JSON pointer to the part of a schema that is about a value.
 *
 * @param place keys and indices that lead to the value
 */
export function schemaPlace(schema: unknown, place: readonly (string | number)[]): string {
  let pointer = "";
  let at = followed(schema, schema);
  for (const step of place) {
    const found = partOf(at.schema, step);
    if (!found) break;
    pointer = (at.pointer ?? pointer) + found.pointer;
    at = followed(schema, found.schema);
  }
  return at.pointer ?? pointer;
}

interface Part {
  readonly pointer: string;
  readonly schema: unknown;
}

/** The part of a schema about a member or an item, and the pointer to it from there. */
function partOf(schema: unknown, step: string | number): Part | undefined {
  const names = typeof step === "number"
    ? [["prefixItems", `${step}`], ["items"]]
    : [["properties", step], ["additionalProperties"]];
  for (const path of names) {
    let part = schema;
    for (const name of path) part = member(part, name);
    if (typeof part === "object" && part !== null) {
      return { pointer: pointerOf(path), schema: part };
    }
  }
  return undefined;
}

/** What a schema refers to within its document, with the pointer to it; else the schema itself. */
function followed(root: unknown, schema: unknown): Omit<Part, "pointer"> & { pointer?: string } {
  const reference = member(schema, "$ref");
  if (typeof reference !== "string" || !reference.startsWith("#/")) return { schema };
  const path = reference.slice(2).split("/")
    .map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~"));
  let part = root;
  for (const name of path) part = member(part, name);
  return part === undefined ? { schema } : { schema: part, pointer: pointerOf(path) };
}

function member(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Record<string, unknown>)[name];
}

function pointerOf(path: readonly string[]): string {
  return path.map((name) => `/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}
