// Which parts of a schema are about a position in its documents: by properties, items, references and
// branches. Of anyOf and oneOf those branches are left out that the document so far does not fit, by types,
// constants and keys; other keywords exclude nothing. For reports alone: no mask depends on it.

import { isJsonObject, numberText } from "../../../tokenizer/mod.ts";

/** A part of a schema, and the JSON pointer to it. */
interface Part {
  readonly pointer: string;
  readonly schema: unknown;
}

/** Parts that are looked at, after which every branch counts as possible. */
const MOST_LOOKS = 20_000;

/** Keywords whose schemas describe the same value: all of them, or some. */
const CONJUNCTS = ["allOf", "if", "then", "else"];
const CHOICES = ["anyOf", "oneOf"];

/** JSON pointers to the parts of a schema that are about the open value of a document, the outermost first. */
export function schemaRules(schema: unknown, document: OpenDocument): string[] {
  return new Search(schema).partsAt(document).map(({ pointer }) => pointer);
}

class Search {
  readonly #root: unknown;
  #looks = MOST_LOOKS;

  constructor(root: unknown) {
    this.#root = root;
  }

  partsAt({ path, value: document }: OpenDocument): Part[] {
    let value = document;
    let parts = this.#spread([{ pointer: "", schema: this.#root }], value);
    for (const step of path) {
      const inner = parts.flatMap((part) => within(part, step));
      // A constant has no parts: it is itself about what is in it.
      if (inner.length === 0) break;
      value = member(value, String(step));
      parts = this.#spread(inner, value);
    }
    return parts;
  }

  /** Parts with those that they refer to or branch into, as far as a value may fit them. */
  #spread(parts: readonly Part[], value: unknown): Part[] {
    const found = new Map<string, Part>();
    const visit = (part: Part): void => {
      if (typeof part.schema !== "object" || part.schema === null || found.has(part.pointer)) {
        return;
      }
      this.#looks--;
      found.set(part.pointer, part);
      const target = this.#target(part);
      if (target) visit(target);
      for (const name of CONJUNCTS) branchesOf(part, name).forEach(visit);
      for (const name of CHOICES) this.#possible(branchesOf(part, name), value).forEach(visit);
    };
    parts.forEach(visit);
    return [...found.values()];
  }

  /** The branches that a value may fit: of these, those that speak of the most of its keys. */
  #possible(branches: readonly Part[], value: unknown): readonly Part[] {
    if (value === undefined || this.#looks <= 0) return branches;
    const fitting = branches.filter((branch) => this.#fits(branch, value));
    if (!isJsonObject(value) || value instanceof OpenScalar) return fitting;
    const counts = fitting.map((branch) => {
      const parts = this.#spread([branch], value);
      return Object.keys(value).filter((key) => parts.some((part) => speaksOf(part, key))).length;
    });
    const most = Math.max(...counts);
    return fitting.filter((_, index) => counts[index] === most);
  }

  /** What a part refers to within the document. */
  #target({ schema }: Part): Part | undefined {
    const reference = member(schema, "$ref");
    if (typeof reference !== "string" || !/^#(?:\/|$)/.test(reference)) return undefined;
    const steps = reference.slice(1).split("/").slice(1).map((name) =>
      name.replaceAll("~1", "/").replaceAll("~0", "~")
    );
    const target = steps.reduce(member, this.#root);
    return target === undefined ? undefined : { pointer: pointerOf(steps), schema: target };
  }

  /** Whether a value may fit a part, as far as both are known. */
  #fits(part: Part, value: unknown): boolean {
    if (value === undefined || this.#looks-- <= 0) return true;
    const { schema } = part;
    if (schema === false) return false;
    const types = member(schema, "type");
    const constants = Array.isArray(member(schema, "enum"))
      ? member(schema, "enum") as unknown[]
      : [member(schema, "const")].filter((one) => one !== undefined);
    if (types !== undefined && ![types].flat().some((type) => isOfType(value, type))) return false;
    if (constants.length > 0 && !constants.some((one) => mayEqual(value, one))) return false;
    const target = this.#target(part);
    if (target && !this.#fits(target, value)) return false;
    for (const name of CHOICES) {
      const branches = branchesOf(part, name);
      if (branches.length > 0 && !branches.some((one) => this.#fits(one, value))) return false;
    }
    if (!branchesOf(part, "allOf").every((one) => this.#fits(one, value))) return false;
    if (typeof value !== "object" || value === null || value instanceof OpenScalar) return true;
    return Object.entries(value).every(([name, inner]) => {
      const parts = within(part, Array.isArray(value) ? Number(name) : name);
      return parts.length === 0 || parts.some((one) => this.#fits(one, inner));
    });
  }
}

function branchesOf({ pointer, schema }: Part, name: string): Part[] {
  const branches = member(schema, name);
  if (branches === undefined) return [];
  const parts: [string[], unknown][] = Array.isArray(branches)
    ? branches.map((branch, index) => [[name, `${index}`], branch])
    : [[[name], branches]];
  return parts.map(([steps, branch]) => ({ pointer: pointer + pointerOf(steps), schema: branch }));
}

/** The parts of a part about a member or an item. A key may match any of its patterns. */
function within({ pointer, schema }: Part, step: string | number): Part[] {
  const names = typeof step === "number"
    ? [[["prefixItems", `${step}`]], [["items", `${step}`]], [["items"]]]
    : [
      [["properties", step]],
      Object.keys(member(schema, "patternProperties") ?? {})
        .map((name) => ["patternProperties", name]),
      [["additionalProperties"]],
    ];
  for (const group of names) {
    const parts = group.map((steps) => ({
      pointer: pointer + pointerOf(steps),
      schema: steps.reduce(member, schema),
    })).filter((part) => typeof part.schema === "object" && part.schema !== null);
    if (parts.length > 0) return parts;
  }
  return [];
}

function speaksOf(part: Part, key: string): boolean {
  return within(part, key).length > 0 || member(part.schema, "additionalProperties") === true;
}

function isOfType(value: unknown, type: unknown): boolean {
  if (value instanceof OpenScalar) return mayBecome(value.text, type);
  if (value === null) return type === "null";
  if (Array.isArray(value)) return type === "array";
  if (typeof value === "number" && Number.isInteger(value) && type === "integer") return true;
  const own: string = typeof value;
  return own === type;
}

function mayBecome(beginning: string, type: unknown): boolean {
  switch (type) {
    case "string":
      return beginning.startsWith('"');
    case "number":
      return /^[-\d]/.test(beginning);
    case "integer":
      return /^-?\d*(?:\.0*)?$/.test(beginning);
    case "boolean":
      return "true".startsWith(beginning) || "false".startsWith(beginning);
    default:
      return type === "null" && "null".startsWith(beginning);
  }
}

/** Whether a value may be a constant. Objects and arrays may have parts that are not there yet. */
function mayEqual(value: unknown, constant: unknown): boolean {
  if (value instanceof OpenScalar) return JSON.stringify(constant).startsWith(value.text);
  if (typeof value === "object" && value !== null) {
    return typeof constant === "object" && constant !== null &&
      Object.entries(value).every(([name, inner]) => mayEqual(inner, member(constant, name)));
  }
  return typeof value === "number" ? value === Number(numberText(constant)) : value === constant;
}

function member(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Record<string, unknown>)[name];
}

function pointerOf(steps: readonly string[]): string {
  return steps.map((name) => `/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

// Where a document that is being written is: the keys and indices of its open objects and arrays, and what
// of it has ended. For reports and the message of an error, so nothing but JSON is expected.

/** A string, number or word of which the end may be missing. */
class OpenScalar {
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
