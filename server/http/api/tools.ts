// Tools as Ollama's and OpenAI's APIs have them alike: the schemas of functions that may be called
// and of calls of them, and a function -> the engine's tool. Pure.

import { isJsonObject, parseExactJson, type Tool } from "../../../engine/mod.ts";
import { type BodyOf, closed, flag, text } from "../body/schema.ts";
import { unreadInTools, unreadInTurns } from "./unread_members.ts";

/** The members of a function; its parameters are a JSON Schema. */
export const functionMembers = {
  name: { type: "string" },
  description: text,
  parameters: { type: ["object", "null"] },
  strict: flag,
} as const;

/** A function that the model may call. */
export const functionSchema = closed({ ...functionMembers, ...unreadInTools }, "name");

export type WireFunction = BodyOf<typeof functionSchema>;

/**
 * The schema of an earlier call in a conversation.
 *
 * @param values that of the arguments
 */
export function callSchema<const Values extends object>(values: Values) {
  const called = { name: { type: "string" }, arguments: values } as const;
  return closed({
    ...unreadInTurns,
    id: text,
    type: { enum: ["function", "", null] },
    function: closed({ ...unreadInTurns, ...called }, "name"),
  }, "function");
}

/**
 * The arguments of a call by their JSON text, with numbers as they are written there; undefined if that
 * is not the text of an object.
 */
export function argumentsOfText(json: string): Record<string, unknown> | undefined {
  try {
    const value = parseExactJson(json);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The engine's tool. */
export function toTool({ name, description, parameters, strict }: WireFunction): Tool {
  return {
    type: "function",
    function: {
      name,
      ...(description && { description }),
      ...(parameters && { parameters }),
      ...(strict && { strict }),
    },
  };
}
