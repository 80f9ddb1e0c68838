// The tools of a chat as the mask can hold a model to them. A strict tool is enforced as it stands or
// refused. Of another one, what cannot be enforced is left out, keyword by keyword: then its calls
// are checked against the whole schema after they came, and the log says so.

import type { Tokenizer } from "../../tokenizer/mod.ts";
import type { ValidateFunction } from "../dependencies.ts";
import { RequestError } from "../errors.ts";
import { compileFormat } from "../generate/mod.ts";
import { SchemaError } from "../grammar/mod.ts";
import type { FormatOptions, Tool } from "../types.ts";
import type { CallableTool } from "./answers/types.ts";

/** Keywords of one tool that are left out before all of its schema is. */
const MOST_LEFT_OUT = 20;

type Schema = Record<string, unknown>;

/** Tools, ready for answers. */
export class ChatTools {
  /** With the schemas that the mask enforces. */
  readonly callable: CallableTool[] = [];
  /** What was left out of the schemas, as sentences for a log. */
  readonly notes: string[] = [];
  /** Whole schemas of tools of which a part is enforced, and what checks them, once it was wanted. */
  readonly #wholes = new Map<string, Schema>();
  readonly #checks = new Map<string, Promise<ValidateFunction | undefined>>();

  /** @throws SchemaError for a strict tool that cannot be enforced, RequestError for two of one name */
  constructor(
    tools: readonly Tool[],
    tokenizer: Tokenizer,
    reading: Pick<FormatOptions, "openObjects"> = {},
  ) {
    const compile = (schema: Schema) => compileFormat({ schema }, tokenizer, reading);
    for (const { function: { name, parameters = {}, strict } } of tools) {
      if (this.callable.some((tool) => tool.name === name)) {
        throw new RequestError(`Cannot offer the tools: two of them are named "${name}"`);
      }
      const schema = { type: "object", ...parameters };
      this.callable.push({ name, parameters: this.#enforceable(name, schema, strict, compile) });
    }
  }

  /** What is wrong with the arguments of a call whose schema was not enforced as a whole. */
  async faultOf(name: string, values: Record<string, unknown>): Promise<string | undefined> {
    const whole = this.#wholes.get(name);
    if (!whole) return undefined;
    if (!this.#checks.has(name)) this.#checks.set(name, compileCheck(whole));
    const check = await this.#checks.get(name);
    if (!check) return `Tool "${name}" has a schema that cannot be checked either`;
    if (check(values)) return undefined;
    const { instancePath, message } = check.errors![0]!;
    return `Tool "${name}" was called with arguments that do not fit its schema: ` +
      `${instancePath || "they"} ${message}`;
  }

  #enforceable(
    name: string,
    whole: Schema,
    strict = false,
    compile: (schema: Schema) => unknown,
  ): Schema {
    let schema = whole;
    for (let attempt = 0; attempt <= MOST_LEFT_OUT; attempt++) {
      try {
        compile(schema);
        if (schema !== whole) this.#wholes.set(name, whole);
        return schema;
      } catch (error) {
        if (!(error instanceof SchemaError)) throw error;
        const { pointer, keyword, reason } = error;
        const named = new SchemaError(pointer, keyword, reason, `the schema of tool "${name}"`);
        if (strict) throw named;
        this.notes.push(`${named.message}; that is left out, and checked when it is called`);
        const wider = without(schema, pointer, keyword);
        if (!wider) break;
        schema = wider;
      }
    }
    this.#wholes.set(name, whole);
    return { type: "object" };
  }
}

/**
 * A function that checks values; undefined where the schema cannot be. The package is loaded when it is
 * first wanted: most models never do, and where the library is imported from a folder that has packages
 * of its own, Deno may not find it.
 */
async function compileCheck(schema: Schema): Promise<ValidateFunction | undefined> {
  try {
    const { Ajv } = await import("../dependencies.ts");
    return new Ajv({ strict: false, validateFormats: false }).compile(schema);
  } catch {
    return undefined;
  }
}

/** A copy of a schema without a keyword at a place; undefined if there is no such thing. */
function without(schema: Schema, pointer: string, keyword: string): Schema | undefined {
  // Only what lies on the way is copied: a schema may be as large as a request, and nest as deep.
  const copy = { ...schema };
  let place: Schema = copy;
  for (const part of pointer.split("/").slice(1)) {
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
    const next = Object.hasOwn(place, key) ? place[key] : undefined;
    if (typeof next !== "object" || next === null) return undefined;
    const own = (Array.isArray(next) ? [...next] : { ...next }) as Schema;
    Object.defineProperty(place, key, { value: own, enumerable: true, writable: true });
    place = own;
  }
  if (!Object.hasOwn(place, keyword)) return undefined;
  delete place[keyword];
  return copy;
}
