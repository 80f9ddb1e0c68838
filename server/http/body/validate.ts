// Checks values against the JSON Schemas of bodies, and says in one sentence, with the field's name, what
// is wrong with the first fault, and of a member that no schema names, which one was probably meant. It
// reads the schemas itself, and lets others have their turns while a large body is checked: Ajv makes a
// function of each schema first, which takes 0.2 s on a busy machine, and that function checks a
// million values in one go. Tests compare the two. Numbers become JavaScript's where a schema has the
// type number or integer; elsewhere they are data, such as those of a tool's arguments, and keep their
// text (JsonNumber).

import { asDouble, inSlices, isJsonObject } from "../../../engine/mod.ts";
import { bounded } from "../../bounded.ts";
import { nearest } from "../../text/nearest.ts";
import { HttpError } from "../errors.ts";
import { type BodyOf, nothing } from "./schema.ts";

/** Values that are checked between two looks at the clock: less than a millisecond's work. */
const PIECE_VALUES = 1000;

/** The keywords that are read. Others are refused when a validator is made. */
interface Schema {
  $ref?: string;
  $defs?: Record<string, Schema>;
  description?: string;
  type?: string | readonly string[];
  const?: unknown;
  enum?: readonly unknown[];
  minimum?: number;
  maximum?: number;
  maxItems?: number;
  anyOf?: readonly Schema[];
  items?: Schema;
  required?: readonly string[];
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | false;
}

const KEYWORDS = new Set(
  ("$ref $defs description type const enum minimum maximum maxItems anyOf items required " +
    "properties additionalProperties").split(" "),
);

/** The fault of a value; undefined if it has none. */
type Check = (value: unknown) => string | undefined;

/** A schema, prepared for checks. */
interface Node {
  /** The fault of the value itself, without the values in it. */
  readonly checks: readonly Check[];
  /** Whether numbers become JavaScript's. */
  takesDoubles: boolean;
  anyOf: readonly Node[];
  /** What is wrong where none of these fits, for people; undefined: what is wrong with one of them. */
  what: string | undefined;
  items: Node | undefined;
  required: readonly string[];
  properties: ReadonlyMap<string, Node>;
  /** The schema of members that are no properties; false if there must be none. */
  others: Node | false | undefined;
  /** Whether such members only have to ask for nothing. */
  isClosed: boolean;
}

/** A fault, and the keys and indices that lead to it. */
interface Fault {
  path: (string | number)[];
  what: string;
}

/** Yields now and then; returns the first fault. */
type Checking = Generator<void, Fault | undefined>;

/** A body that has the types of its schema. */
export interface CheckedBody<Body> {
  body: Body;
  /** The error of the first member that the schema does not name and that asks for something. */
  unknown: HttpError | undefined;
}

/** Checks bodies against a schema. */
export interface Validator<Body> {
  /**
   * Gives the body back as the type that the schema describes. Errors: HttpError 400 where it does not
   * fit.
   */
  (body: unknown): Promise<Body>;
  /**
   * Checks a body likewise, except that the caller has to throw the error of an unknown member. What is wrong with
   * the members that are known tells more, such as that a tool is of a kind that is not available.
   */
  check(body: unknown): Promise<CheckedBody<Body>>;
}

export function createValidator<const Body extends object>(
  schema: Body,
): Validator<BodyOf<Body>> {
  const node = new SchemaReader(schema).read(schema);
  const check = async (body: unknown) => {
    const checker = new Checker();
    const fault = await inSlices(checker.check(node, body));
    if (fault) throw toError(fault);
    return { body: body as BodyOf<Body>, unknown: checker.unknown && toError(checker.unknown) };
  };
  const validate = async (value: unknown) => {
    const { body, unknown } = await check(value);
    if (unknown) throw unknown;
    return body;
  };
  return Object.assign(validate, { check });
}

function toError({ path, what }: Fault): HttpError {
  return new HttpError(400, `${fieldName(path)} ${what}`, memberName(path));
}

/** Prepares schemas, each once, however many references lead to it. */
class SchemaReader {
  readonly #definitions: Record<string, Schema>;
  readonly #nodes = new Map<Schema, Node>();

  constructor({ $defs = {} }: Schema) {
    this.#definitions = $defs;
  }

  read(schema: Schema): Node {
    if (schema.$ref !== undefined) return this.read(this.#definition(schema));
    const known = this.#nodes.get(schema);
    if (known) return known;
    const { anyOf = [], description, items, required = [], properties = {} } = schema;
    const { additionalProperties } = schema;
    const node: Node = {
      checks: checksOf(schema),
      takesDoubles: [schema.type].flat().some((type) => type === "number" || type === "integer"),
      anyOf: [],
      what: description && description[0]!.toLowerCase() + description.slice(1).replace(/\.$/, ""),
      items: undefined,
      required,
      properties: new Map(),
      others: false,
      isClosed: additionalProperties === nothing,
    };
    // Known before its parts are read, which may lead back to it.
    this.#nodes.set(schema, node);
    const read = (part: Schema | undefined) => part && this.read(part);
    node.anyOf = anyOf.map((each) => this.read(each));
    node.takesDoubles ||= node.anyOf.some((each) => each.takesDoubles);
    node.items = read(items);
    node.properties = new Map(
      Object.entries(properties).map(([name, each]) => [name, this.read(each)]),
    );
    node.others = additionalProperties === false ? false : read(additionalProperties);
    return node;
  }

  #definition({ $ref = "", description: _, ...rest }: Schema): Schema {
    const definition = this.#definitions[$ref.replace("#/$defs/", "")];
    if (definition && Object.keys(rest).length === 0) return definition;
    throw new TypeError(
      `Cannot check bodies: ${$ref} is none of the $defs, or does not stand alone`,
    );
  }
}

/** The checks of a value without what is in it. */
function checksOf(schema: Schema): Check[] {
  const { type, const: constant, enum: words, minimum, maximum, maxItems } = schema;
  const name = Object.keys(schema).find((name) => !KEYWORDS.has(name));
  if (name !== undefined) throw new TypeError(`Cannot check bodies: "${name}" is not implemented`);
  const checks: Check[] = [];
  const demand = (isRight: (value: unknown) => boolean, what: string) => {
    checks.push((value) => isRight(value) ? undefined : what);
  };
  const isNumber = (value: unknown) => typeof value === "number";
  if (type !== undefined) {
    const names = [type].flat();
    const tests = names.map(typeTest);
    // Null means "not given" everywhere and need not be mentioned.
    const told = names.filter((name) => name !== "null").join(" or ") || "null";
    demand((value) => tests.some((test) => test(value)), `must be of type ${told}`);
  }
  if ("const" in schema) {
    demand((value) => value === constant, `must be ${JSON.stringify(constant)}`);
  }
  if (words) {
    const told = words.filter((word) => word !== null).join(", ");
    demand((value) => words.includes(value), `must be one of ${told}`);
  }
  if (minimum !== undefined) {
    demand((value) => !isNumber(value) || Number(value) >= minimum, `must be >= ${minimum}`);
  }
  if (maximum !== undefined) {
    demand((value) => !isNumber(value) || Number(value) <= maximum, `must be <= ${maximum}`);
  }
  if (maxItems !== undefined) {
    const isShort = (value: unknown) => !Array.isArray(value) || value.length <= maxItems;
    demand(isShort, `must not have more than ${maxItems} items`);
  }
  return checks;
}

/** Whether a value has a type. An infinite number, as which 1e999 is read, is no number. */
function typeTest(name: string): (value: unknown) => boolean {
  switch (name) {
    case "null":
      return (value) => value === null;
    case "array":
      return Array.isArray;
    case "object":
      return isJsonObject;
    case "number":
      return Number.isFinite;
    case "integer":
      return Number.isInteger;
    case "string":
      return (value) => typeof value === "string";
    case "boolean":
      return (value) => typeof value === "boolean";
  }
  throw new TypeError(`Cannot check bodies: "${name}" is no type`);
}

/** Checks one body. */
class Checker {
  /** The fault of the first member that no schema names. */
  unknown: Fault | undefined;
  /** The path to the value that is checked. */
  readonly #path: Fault["path"] = [];
  #values = 0;

  *check(node: Node, value: unknown): Checking {
    const what = whatIsWrong(node, value);
    if (what !== undefined) return this.#fault(what);
    if (node.anyOf.length > 0) {
      const fault = yield* this.#checkAny(node.anyOf, value);
      if (fault) return node.what === undefined ? fault : this.#fault(node.what);
    }
    if (Array.isArray(value)) return yield* this.#checkItems(node, value);
    if (isJsonObject(value)) return yield* this.#checkMembers(node, value);
  }

  /** The fault of the schema that fits farthest, which is most likely the one that was meant. */
  *#checkAny(schemas: readonly Node[], value: unknown): Checking {
    let farthest: Fault | undefined;
    for (const schema of schemas) {
      const fault = yield* this.check(schema, value);
      if (!fault) return;
      if (fault.path.length > (farthest?.path.length ?? -1)) farthest = fault;
    }
    return farthest;
  }

  *#checkItems({ items }: Node, value: unknown[]): Checking {
    for (let index = 0; items && index < value.length; index++) {
      if (items.takesDoubles) value[index] = asDouble(value[index]);
      const fault = yield* this.#within(index, items, value[index]);
      if (fault) return fault;
    }
  }

  *#checkMembers(node: Node, value: Record<string, unknown>): Checking {
    const missing = node.required.find((name) => value[name] === undefined);
    if (missing !== undefined) return this.#fault(`lacks "${missing}"`);
    for (const [name, property] of node.properties) {
      if (value[name] === undefined) continue;
      if (property.takesDoubles) value[name] = asDouble(value[name]);
      const fault = yield* this.#within(name, property, value[name]);
      if (fault) return fault;
    }
    if (node.others === undefined) return;
    for (const name in value) {
      if (node.properties.has(name)) continue;
      if (!node.others) return this.#fault(`must not have "${name}"`);
      if (node.others.takesDoubles) value[name] = asDouble(value[name]);
      const fault = yield* this.#within(name, node.others, value[name]);
      if (!fault) continue;
      if (!node.isClosed) return fault;
      this.unknown ??= this.#fault(unknown(name, node), bounded(name, MOST_LETTERS));
    }
  }

  *#within(key: string | number, node: Node, value: unknown): Checking {
    if (++this.#values % PIECE_VALUES === 0) yield;
    this.#path.push(key);
    const fault = yield* this.check(node, value);
    this.#path.pop();
    return fault;
  }

  #fault(what: string, ...within: Fault["path"]): Fault {
    return { path: [...this.#path, ...within], what };
  }
}

/** Most letters of a name that a client made up, in a sentence. */
const MOST_LETTERS = 60;

/** What is wrong with a member that no schema names: where it belongs, or what it is like. */
function unknown(name: string, { properties }: Node): string {
  const what = "is not known here";
  for (const [outer, { properties: inner }] of properties) {
    if (inner.has(name)) return `${what}: it belongs into "${outer}"`;
  }
  const near = name.length <= MOST_LETTERS && nearest(name, properties.keys());
  return near ? `${what}: did you mean "${near}"?` : what;
}

function whatIsWrong({ checks }: Node, value: unknown): string | undefined {
  for (const check of checks) {
    const what = check(value);
    if (what !== undefined) return what;
  }
}

/** `messages[0].role`; for a member of `options` the words that Ollama uses: `option "seed"`. */
function fieldName(path: Fault["path"]): string {
  if (path.length === 0) return "request body";
  const isOption = path[0] === "options" && path.length > 1;
  return isOption ? `option "${memberName(path.slice(1))}"` : memberName(path)!;
}

/** `messages[0].role`; undefined for the whole. */
function memberName([first, ...rest]: Fault["path"]): string | undefined {
  if (first === undefined) return undefined;
  return first + rest.map((part) => typeof part === "number" ? `[${part}]` : `.${part}`).join("");
}
