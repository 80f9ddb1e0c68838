// A conversation in the types that Ollama gives its templates: structs with Go's names, tools with
// their fields in Ollama's order and the properties of their parameters in alphabetical order.
// Defined by the types of Ollama's packages api and template.

import { isJsonObject, plain, taint, type Text } from "../../tokenizer/mod.ts";
import type { ChatMessage, Tool, ToolCall } from "../types/mod.ts";
import { writeJson } from "./json.ts";
import { type Field, type GoValue, Stringer, Struct, toGoValue } from "./values.ts";

/** A nil slice, which is null in JSON. */
const NO_ITEMS = new Stringer([], "[]", null);

/** The messages as `.Messages`. */
export function toGoMessages(messages: readonly ChatMessage[]): GoValue {
  return messages.map((message) =>
    goStruct({
      // Roles count as the template's words, because templates make marks of them.
      Role: message.role,
      Content: taint(message.content),
      Thinking: taint(message.thinking ?? ""),
      Images: NO_ITEMS,
      ToolCalls: message.toolCalls?.map(callStruct) ?? NO_ITEMS,
      ToolName: taint(message.toolName ?? ""),
      ToolCallID: taint(message.toolCallId ?? ""),
    })
  );
}

function callStruct({ id, function: { name, arguments: given } }: ToolCall, index: number): Struct {
  const called = goStruct({
    Index: index,
    Name: taint(name),
    Arguments: withJson(toGoValue(given)),
  });
  return goStruct({ ID: taint(id ?? ""), Function: called });
}

/** The tools as `.Tools`: all together, each tool and its parts print as JSON. */
export function toGoTools(tools: readonly Tool[]): GoValue {
  return withJson(tools.map((tool) => withJson(toolStruct(tool))));
}

function toolStruct(tool: Tool): Struct {
  const { type, function: offered, ...others } = tool;
  const { name, description, parameters, ...functionOthers } = offered;
  return new Struct([
    field("Type", "type", type),
    field(
      "Function",
      "function",
      withJson(
        new Struct([
          field("Name", "name", taint(name)),
          field("Description", "description", taint(description ?? "")),
          field("Parameters", "parameters", withJson(parametersStruct(parameters ?? {}))),
          ...otherFields(functionOthers),
        ]),
      ),
    ),
    ...otherFields(others),
  ]);
}

type Schema = Readonly<Record<string, unknown>>;

function parametersStruct(parameters: Schema): Struct {
  const { type, $defs, items, required, properties, ...others } = parameters;
  return new Struct([
    field("Type", "type", toGoValue(type ?? "")),
    optional("Defs", "$defs", toGoValue($defs)),
    optional("Items", "items", toGoValue(items)),
    optional("Required", "required", toGoValue(required) ?? NO_ITEMS),
    field(
      "Properties",
      "properties",
      withJson(isJsonObject(properties) ? sorted(properties) : null),
    ),
    ...otherFields(others),
  ]);
}

/** Properties in alphabetical order, like those of a function. */
function sorted(properties: Schema): GoValue {
  const entries = Object.entries(properties).sort(([a], [b]) => a < b ? -1 : 1);
  return new Map(entries.map(([name, property]) => [name, propertyStruct(property)]));
}

function propertyStruct(property: unknown): GoValue {
  if (!isJsonObject(property)) return toGoValue(property);
  const { anyOf, type, items, description, enum: values, properties, required, ...others } =
    property;
  return new Struct([
    optional("AnyOf", "anyOf", Array.isArray(anyOf) ? anyOf.map(propertyStruct) : NO_ITEMS),
    optional("Type", "type", propertyType(type)),
    optional("Items", "items", toGoValue(items)),
    optional("Description", "description", toGoValue(description ?? "")),
    optional("Enum", "enum", toGoValue(values) ?? NO_ITEMS),
    optional("Properties", "properties", isJsonObject(properties) ? inOrder(properties) : null),
    optional("Required", "required", toGoValue(required) ?? NO_ITEMS),
    ...otherFields(others),
  ]);
}

/** Properties in their own order, like those within others. */
function inOrder(properties: Schema): GoValue {
  return new Map(
    Object.entries(properties).map(([name, property]) => [name, propertyStruct(property)]),
  );
}

/** A list of types, which prints as the type if it has only one. */
function propertyType(type: unknown): GoValue {
  if (type === undefined) return new Stringer([], "", null);
  const types = (Array.isArray(type) ? type : [type]).map((one): Text => taint(String(one)));
  return types.length === 1
    ? new Stringer(types, types[0]!, types[0]!)
    : new Stringer(types, taint(`[${types.map(plain).join(" ")}]`));
}

/** Keywords that Ollama's types lack. JSON contains them, too, after the known ones. */
function otherFields(others: Schema): Field[] {
  return Object.entries(others).map(([key, value]) => field(key, taint(key), toGoValue(value)));
}

function withJson(value: GoValue): GoValue {
  return new Stringer(value, value === null ? "{}" : writeJson(value));
}

function goStruct(values: Readonly<Record<string, GoValue>>): Struct {
  return new Struct(Object.entries(values).map(([name, value]) => field(name, name, value)));
}

function field(name: string, key: Text, value: GoValue): Field {
  return { name, key, value };
}

function optional(name: string, key: string, value: GoValue): Field {
  return { name, key, value, omitsEmpty: true };
}
