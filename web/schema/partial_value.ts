// The beginning of a JSON document as far as it is there, and whether a schema could still describe the
// whole: which branches of anyOf are left. Keywords that it does not know forbid nothing. Pure.

/** A value of which the end may be missing. */
export type PartialValue =
  | { kind: "object"; isWhole: boolean; members: Map<string, PartialValue | undefined> }
  | { kind: "array"; isWhole: boolean; items: (PartialValue | undefined)[] }
  | { kind: "string"; isWhole: boolean; text: string }
  /** A number, true, false or null, as it is written. */
  | { kind: "word"; isWhole: boolean; text: string };

/** What the beginning of a document holds; undefined before its first character. */
export function readPartial(text: string): PartialValue | undefined {
  let at = 0;
  const skip = () => {
    while (/\s/.test(text[at] ?? "")) at++;
  };
  const readString = (): PartialValue => {
    const found = /"((?:[^"\\]|\\.)*)("?)/sy;
    found.lastIndex = at;
    const [source, body, end] = found.exec(text)!;
    at += source.length;
    return { kind: "string", isWhole: end !== "", text: stringOf(body!) };
  };
  const read = (): PartialValue | undefined => {
    skip();
    const open = text[at];
    if (open === undefined) return undefined;
    if (open === '"') return readString();
    if (open === "[") {
      const items: (PartialValue | undefined)[] = [];
      for (at++; skip(), at < text.length && text[at] !== "]";) {
        items.push(read());
        skip();
        if (text[at] === ",") at++;
        else if (text[at] !== "]") break;
      }
      return { kind: "array", isWhole: text[at++] === "]", items };
    }
    if (open === "{") {
      const members = new Map<string, PartialValue | undefined>();
      for (at++; skip(), text[at] === '"';) {
        const key = readString();
        skip();
        if (key.kind !== "string" || !key.isWhole || text[at] !== ":") break;
        at++;
        members.set(key.text, read());
        skip();
        if (text[at] === ",") at++;
      }
      return { kind: "object", isWhole: text[at++] === "}", members };
    }
    const word = /[^\s,\]}]*/y;
    word.lastIndex = at;
    const [source] = word.exec(text)!;
    at += source.length;
    return { kind: "word", isWhole: at < text.length, text: source };
  };
  return read();
}

/** A string of which the last escape may be cut off. */
function stringOf(body: string): string {
  for (const cut of [0, 1, 2, 3, 4, 5, 6]) {
    try {
      return JSON.parse(`"${body.slice(0, body.length - cut)}"`);
    } catch {
      // One character less, then.
    }
  }
  return body;
}

/** Part of a value; undefined where it has not begun. */
export function partOf(
  value: PartialValue | undefined,
  step: string | number,
): PartialValue | undefined {
  if (value?.kind === "object") return value.members.get(String(step));
  return value?.kind === "array" ? value.items[Number(step)] : undefined;
}

/** How deep references are followed. */
const DEEPEST = 30;

/** Finds what a reference names. */
export type Resolve = (reference: string) => unknown;

/** Whether a value that begins so could be one that a schema describes. */
export function couldBe(
  schema: unknown,
  value: PartialValue | undefined,
  resolve: Resolve,
  depth = 0,
): boolean {
  if (schema === false) return false;
  if (!value || typeof schema !== "object" || schema === null || depth > DEEPEST) return true;
  const rules = schema as Record<string, unknown>;
  const holds = (other: unknown, part = value) => couldBe(other, part, resolve, depth + 1);
  const list = (name: string) => Array.isArray(rules[name]) ? rules[name] as unknown[] : undefined;
  if (typeof rules.$ref === "string" && !holds(resolve(rules.$ref))) return false;
  const types = list("type") ?? (rules.type === undefined ? undefined : [rules.type]);
  if (types && !types.some((type) => isOfType(value, type))) return false;
  if ("const" in rules && !begins(rules.const, value)) return false;
  if (list("enum")?.every((one) => !begins(one, value))) return false;
  for (const name of ["anyOf", "oneOf"]) if (list(name)?.every((one) => !holds(one))) return false;
  if (list("allOf")?.some((one) => !holds(one))) return false;
  if (value.kind === "object") {
    const required = list("required") ?? [];
    if (value.isWhole && required.some((key) => !value.members.has(String(key)))) return false;
    const properties = rules.properties as Record<string, unknown> | undefined;
    const isClosed = properties && rules.additionalProperties === undefined ||
      rules.additionalProperties === false;
    for (const [key, part] of value.members) {
      if (properties && Object.hasOwn(properties, key)) {
        if (!holds(properties[key], part)) return false;
      } else if (isClosed && !rules.patternProperties) return false;
    }
  }
  if (value.kind === "array") {
    const first = list("prefixItems") ?? [];
    if (value.items.some((part, index) => !holds(first[index] ?? rules.items, part))) return false;
  }
  return true;
}

function isOfType({ kind, ...value }: PartialValue, type: unknown): boolean {
  if (kind !== "word") return kind === type;
  const { text } = value as { text: string };
  if (type === "null" || type === "boolean") {
    const words = type === "null" ? ["null"] : ["true", "false"];
    return words.some((word) => word.startsWith(text));
  }
  if (type === "number") return /^[-\d]/.test(text);
  return type === "integer" && /^-?\d*(?:\.0*)?$/.test(text);
}

/** Whether a value that begins so could be a given one. */
function begins(wanted: unknown, value: PartialValue | undefined): boolean {
  if (!value) return true;
  if (value.kind === "string") {
    if (typeof wanted !== "string") return false;
    return value.isWhole ? wanted === value.text : wanted.startsWith(value.text);
  }
  if (value.kind === "array") {
    if (!Array.isArray(wanted) || value.isWhole && wanted.length !== value.items.length) {
      return false;
    }
    return value.items.every((part, index) => index < wanted.length && begins(wanted[index], part));
  }
  if (typeof wanted === "object" && wanted !== null) {
    if (value.kind !== "object" || Array.isArray(wanted)) return false;
    const known = wanted as Record<string, unknown>;
    if (value.isWhole && Object.keys(known).length !== value.members.size) return false;
    return [...value.members].every(([key, part]) =>
      Object.hasOwn(known, key) && begins(known[key], part)
    );
  }
  if (value.kind !== "word" || typeof wanted === "string") return false;
  const text = JSON.stringify(wanted);
  return value.isWhole
    ? Number(text) === Number(value.text) || text === value.text
    : text.startsWith(value.text) || typeof wanted === "number" && /[.eE]/.test(value.text);
}
