// The tools of a chat, as far as the mask can enforce their schemas, and their results in its
// messages. A strict tool is enforced completely or refused. For other tools, keywords that cannot
// be enforced are left out; then calls are checked against the whole schema afterwards, and the
// answer says so.

import { type Tokenizer, withDoubles } from "../../tokenizer/mod.ts";
import type { ValidateFunction } from "../dependencies.ts";
import { RequestError } from "../errors.ts";
import { compileFormat } from "../generate/mod.ts";
import {
  type CompiledSchema,
  DanglingReferenceError,
  SchemaError,
  warningText,
} from "../grammar/mod.ts";
import type { ChatMessage, FormatOptions, Tool, ToolCall } from "../types/mod.ts";
import type { CallableTool, CallSyntax } from "./answers/types.ts";

/** Most keywords of a tool that are left out before its schema is given up. */
const MOST_LEFT_OUT = 20;

/** Why a keyword cannot be enforced that no family can write otherwise. */
const ONE_BY_ONE = "the model's format writes arguments one by one, not as one JSON text";

/** What is told of a keyword that is not enforced. */
const CHECKED = "that is left out, and checked when it is called";

type Schema = Record<string, unknown>;

/** How the schemas of tools are read. */
export interface ToolReading extends Pick<FormatOptions, "openObjects"> {
  /** How calls are written. Default: with arguments as one JSON text. */
  readonly calls?: Pick<CallSyntax, "unheld"> | undefined;
}

/** The tools of a request. */
export class ChatTools {
  /** The tools with the schemas that the mask enforces. */
  readonly callable: CallableTool[] = [];
  /** What of the schemas is not enforced, as sentences. */
  readonly notes: string[] = [];
  /**
   * Complete schemas of tools that are enforced in part, and the functions that check them, made on
   * demand.
   */
  readonly #wholes = new Map<string, Schema>();
  readonly #checks = new Map<string, Promise<ValidateFunction | undefined>>();

  /**
   * @throws SchemaError for a strict tool that cannot be enforced, and for a reference in any tool
   *   that leads nowhere; RequestError for two tools with the same name
   */
  constructor(
    tools: readonly Tool[],
    tokenizer: Tokenizer,
    { calls, ...reading }: ToolReading = {},
  ) {
    const compile = (schema: Schema) => compileFormat({ schema }, tokenizer, reading);
    for (const { function: { name, parameters = {}, strict } } of tools) {
      if (this.callable.some((tool) => tool.name === name)) {
        throw new RequestError(`Cannot offer the tools: two of them are named "${name}"`);
      }
      const schema = { type: "object", ...parameters };
      const tool = { name, parameters: this.#enforceable(name, schema, strict, compile) };
      for (const { pointer, keyword } of calls?.unheld?.(tool) ?? []) {
        const error = new SchemaError(pointer, keyword, ONE_BY_ONE, subjectOf(name));
        if (strict) throw error;
        this.notes.push(`${error.message}; ${CHECKED}`);
        this.#wholes.set(name, schema);
      }
      this.callable.push(tool);
    }
  }

  /**
   * The fault of a call's arguments if its schema was not enforced completely; undefined if there
   * is none.
   */
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
    compile: (schema: Schema) => CompiledSchema,
  ): Schema {
    const subject = subjectOf(name);
    let schema = whole;
    for (let attempt = 0; attempt <= MOST_LEFT_OUT; attempt++) {
      try {
        const { warnings } = compile(schema);
        this.notes.push(...warnings.map((warning) => warningText(warning, subject)));
        if (schema !== whole) this.#wholes.set(name, whole);
        return schema;
      } catch (error) {
        if (!(error instanceof SchemaError)) throw error;
        const { pointer, keyword, reason } = error;
        const named = new SchemaError(pointer, keyword, reason, subject);
        // Without its reference a schema would allow anything, and nobody could check the calls.
        if (strict || error instanceof DanglingReferenceError) throw named;
        this.notes.push(`${named.message}; ${CHECKED}`);
        const wider = without(schema, pointer, keyword);
        if (!wider) break;
        schema = wider;
      }
    }
    this.#wholes.set(name, whole);
    return { type: "object" };
  }
}

/** How messages name the schema of a tool. */
function subjectOf(name: string): string {
  return `the schema of tool "${name}"`;
}

/**
 * A function that checks values; undefined if the schema is not valid. The package is only loaded
 * when it is needed. Most models never need it, and if the library is imported from a folder with
 * packages of its own, Deno may not find it.
 */
async function compileCheck(schema: Schema): Promise<ValidateFunction | undefined> {
  try {
    const { Ajv } = await import("../dependencies.ts");
    return new Ajv({ strict: false, validateFormats: false }).compile(withDoubles(schema));
  } catch {
    return undefined;
  }
}

/** A copy of a schema without a keyword at a pointer; undefined if there is no such keyword. */
function without(schema: Schema, pointer: string, keyword: string): Schema | undefined {
  // Only objects on the path are copied, because a schema may be as large and deep as a request.
  const copy = { ...schema };
  let inner: Schema = copy;
  for (const part of pointer.split("/").slice(1)) {
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
    const next = Object.hasOwn(inner, key) ? inner[key] : undefined;
    if (typeof next !== "object" || next === null) return undefined;
    const own = (Array.isArray(next) ? [...next] : { ...next }) as Schema;
    Object.defineProperty(inner, key, { value: own, enumerable: true, writable: true });
    inner = own;
  }
  if (!Object.hasOwn(inner, keyword)) return undefined;
  delete inner[keyword];
  return copy;
}

// Results of tools, bound to their calls. Most templates show results without ids, in the order of
// the messages, and models take them in the order of the calls.

/**
 * The messages, with results that follow parallel calls in the order of the calls. A result belongs
 * to the call that it names by its id, or else by its tool; any other to the next call without one.
 * A result that names its call by the id alone gets the tool's name, too.
 */
export function bindResults(messages: readonly ChatMessage[]): ChatMessage[] {
  const bound: ChatMessage[] = [];
  let calls: ToolCall[] = [];
  let results: ChatMessage[] = [];
  const give = () => {
    for (const result of inCallOrder(results, calls)) bound.push(result);
    results = [];
  };
  for (const message of messages) {
    if (message.role === "tool") {
      results.push(message);
      continue;
    }
    // Parallel calls may be in several messages of the assistant, one after the other.
    if (message.role !== "assistant" || results.length > 0) {
      give();
      calls = [];
    }
    for (const call of message.toolCalls ?? []) calls.push(call);
    bound.push(message);
  }
  give();
  return bound;
}

function inCallOrder(results: readonly ChatMessage[], calls: readonly ToolCall[]): ChatMessage[] {
  const callOf: (number | undefined)[] = results.map(() => undefined);
  const free = new Set(calls.keys());
  /** Gives each result without a call that of the first free call with its key. */
  const bind = <K>(
    keyOf: (result: ChatMessage) => K | undefined,
    callKeyOf: (call: ToolCall) => K | undefined,
  ) => {
    const waiting = Map.groupBy([...free].reverse(), (index) => callKeyOf(calls[index]!));
    for (const [i, result] of results.entries()) {
      const key = keyOf(result);
      if (callOf[i] !== undefined || key === undefined) continue;
      const call = waiting.get(key)?.pop();
      if (call !== undefined) free.delete(callOf[i] = call);
    }
  };
  bind(({ toolCallId }) => toolCallId, ({ id }) => id);
  const named = results.map((result, i): ChatMessage => {
    const call = callOf[i];
    if (call === undefined || result.toolName !== undefined) return result;
    return { ...result, toolName: calls[call]!.function.name };
  });
  bind(({ toolName }) => toolName, ({ function: { name } }) => name);
  bind(() => true, () => true);
  const order = named.map((result, i) => ({ result, call: callOf[i] ?? calls.length }));
  return order.sort((a, b) => a.call - b.call).map(({ result }) => result);
}
