// Where an answer is in its schema: the JSON so far gives the path to the value that is being written,
// the path and the schema give the rules in force there, and the text of the schema their lines. Of
// anyOf and oneOf those branches apply that the JSON so far leaves. Pure.

import { couldBe, type PartialValue, partOf, readPartial } from "./partial_value.ts";

/** Keys and indices that lead to a value. */
export type Path = (string | number)[];

/** Where in a document the end of its beginning is. */
export interface DocumentPlace {
  path: Path;
  /** Whether a key is being written, rather than a value. */
  isKey: boolean;
}

/** The place at the end of the beginning of a JSON document. */
export function placeIn(beginning: string): DocumentPlace {
  const path: Path = [];
  const kinds: ("object" | "array")[] = [];
  let isKey = false;
  let key = "";
  for (let at = 0; at < beginning.length; at++) {
    const character = beginning[at]!;
    if (character === '"') {
      const end = endOfString(beginning, at);
      if (end < 0) break;
      if (isKey) key = readString(beginning.slice(at, end));
      at = end - 1;
    } else if (character === "{") {
      kinds.push("object");
      path.push("");
      isKey = true;
    } else if (character === "[") {
      kinds.push("array");
      path.push(0);
      isKey = false;
    } else if (character === ":") {
      path[path.length - 1] = key;
      isKey = false;
    } else if (character === ",") {
      if (kinds.at(-1) === "object") isKey = true;
      else path[path.length - 1] = Number(path.at(-1)) + 1;
    } else if (character === "}" || character === "]") {
      kinds.pop();
      path.pop();
      isKey = false;
    }
  }
  return { path: isKey ? path.slice(0, -1) : path, isKey };
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

const BRANCHES = ["anyOf", "oneOf", "allOf", "then", "else", "if"] as const;

/** JSON pointers of the schemas in force at the end of the beginning of a document. */
export function rulesAt(schema: unknown, beginning: string): string[] {
  let value = readPartial(beginning);
  let places = expand(schema, [""], value);
  for (const step of placeIn(beginning).path) {
    const inner = places.flatMap((pointer) => below(schema, pointer, step));
    // A constant, for one, has no rules within: it is in force itself.
    if (inner.length === 0) break;
    value = partOf(value, step);
    places = expand(schema, inner, value);
  }
  return [...new Set(places)];
}

/** A place with those that it refers to or branches into, as far as they could describe the value. */
function expand(
  root: unknown,
  pointers: readonly string[],
  value: PartialValue | undefined,
): string[] {
  const found = new Set<string>();
  const resolve = (reference: string) =>
    reference.startsWith("#") ? valueAt(root, decodeURIComponent(reference.slice(1))) : undefined;
  const isLeft = (pointer: string) => couldBe(valueAt(root, pointer), value, resolve);
  const visit = (pointer: string): void => {
    if (found.has(pointer)) return;
    const schema = valueAt(root, pointer);
    if (typeof schema !== "object" || schema === null) return;
    found.add(pointer);
    const { $ref } = schema as { $ref?: unknown };
    if (typeof $ref === "string" && $ref.startsWith("#")) visit(decodeURIComponent($ref.slice(1)));
    for (const name of BRANCHES) {
      const branch = (schema as Record<string, unknown>)[name];
      if (Array.isArray(branch)) {
        const places = branch.map((_, index) => `${pointer}/${name}/${index}`);
        (name === "allOf" ? places : places.filter(isLeft)).forEach(visit);
      } else if (branch) visit(`${pointer}/${name}`);
    }
  };
  pointers.forEach(visit);
  return [...found];
}

function below(root: unknown, pointer: string, step: string | number): string[] {
  const schema = valueAt(root, pointer) as Record<string, unknown>;
  if (typeof step === "number") {
    const { prefixItems, items } = schema;
    if (Array.isArray(prefixItems) && step < prefixItems.length) {
      return [`${pointer}/prefixItems/${step}`];
    }
    if (Array.isArray(items)) return [`${pointer}/items/${step}`];
    return items ? [`${pointer}/items`] : [];
  }
  const { properties, patternProperties, additionalProperties } = schema;
  if (hasKey(properties, step)) return [`${pointer}/properties/${escape(step)}`];
  for (const pattern of Object.keys(patternProperties ?? {})) {
    if (matches(pattern, step)) return [`${pointer}/patternProperties/${escape(pattern)}`];
  }
  return additionalProperties ? [`${pointer}/additionalProperties`] : [];
}

function hasKey(value: unknown, key: string): boolean {
  return typeof value === "object" && value !== null && Object.hasOwn(value, key);
}

function matches(pattern: string, key: string): boolean {
  try {
    return new RegExp(pattern, "u").test(key);
  } catch {
    return false;
  }
}

function escape(key: string): string {
  return key.replaceAll("~", "~0").replaceAll("/", "~1");
}

/** The value that a JSON pointer leads to. */
export function valueAt(root: unknown, pointer: string): unknown {
  let value = root;
  for (const part of pointer.split("/").slice(1)) {
    if (typeof value !== "object" || value === null) return undefined;
    value = (value as Record<string, unknown>)[part.replaceAll("~1", "/").replaceAll("~0", "~")];
  }
  return value;
}

/** From the pointer of each value of a JSON text to where it stands there, its key included. */
export function spansOf(source: string): Map<string, [start: number, end: number]> {
  const spans = new Map<string, [number, number]>();
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
