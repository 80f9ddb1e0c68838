// Tools and the choice among them -> the engine's, and the ids of calls. Anthropic's own tools (web
// search, computer use and the like) run on its servers or come with schemas that are not published:
// they are refused. Clients know an id by its prefix; after it comes the engine's own id, so that
// templates which write it show it as the model wrote it.

import { type ChatRequest, isJsonObject, type Tool } from "../../../../engine/mod.ts";
import { HttpError } from "../../errors.ts";
import { toTool } from "../tools.ts";
import type { AnthropicRequest, AnthropicTool, AnthropicToolChoice } from "./schema.ts";

/** The part of the engine's request that is about tools. */
export type ToolOptions = Pick<ChatRequest, "tools" | "toolChoice" | "parallelToolCalls">;

/**
 * Reads `tools` and `tool_choice`.
 *
 * @throws {HttpError} 400 for tools that cannot be offered, and choices that cannot be made
 */
export function toToolOptions({ tools, tool_choice: choice }: AnthropicRequest): ToolOptions {
  const offered = (tools ?? []).map(readTool);
  return {
    ...(offered.length > 0 && { tools: offered }),
    ...(choice && { toolChoice: toToolChoice(choice, offered) }),
    ...(choice?.disable_parallel_tool_use && { parallelToolCalls: false }),
  };
}

function readTool(tool: AnthropicTool): Tool {
  const { type, name, description, input_schema: parameters, strict } = tool;
  if (type && type !== "custom") {
    throw new HttpError(
      400,
      `tool "${name}" is of type "${type}": only custom tools are supported`,
    );
  }
  const fault = faultOf(parameters);
  if (fault) throw new HttpError(400, `invalid input_schema for tool "${name}": ${fault}`);
  return toTool({ name, description, parameters: parameters as Record<string, unknown>, strict });
}

/**
 * The reason why a schema cannot be one of arguments, if it cannot. The engine checks its other
 * keywords.
 */
function faultOf(schema: unknown): string | undefined {
  if (!isJsonObject(schema)) return "it must be an object";
  const { type = "object", properties = {}, required = [] } = schema;
  if (type !== "object") return 'its type must be "object"';
  if (!isJsonObject(properties)) return "its properties must be an object";
  const isList = Array.isArray(required) && required.every((name) => typeof name === "string");
  return isList ? undefined : "required must be a list of names";
}

function toToolChoice(
  { type, name }: AnthropicToolChoice,
  tools: readonly Tool[],
): NonNullable<ChatRequest["toolChoice"]> {
  if (type === "auto" || type === "none") return type;
  if (tools.length === 0) throw new HttpError(400, `tool_choice "${type}" needs tools`);
  if (type === "any") return "required";
  if (!name) throw new HttpError(400, 'tool_choice lacks "name"');
  if (tools.some((tool) => tool.function.name === name)) return { name };
  throw new HttpError(400, `tool_choice: no tool is named "${name}"`);
}

const PREFIX = "toolu_";

/** The id of a call as clients see it. */
export function toWireId(id: string): string {
  return PREFIX + id;
}

/** The engine's id of a call. Ids without the prefix, from other servers, stay as they are. */
export function toEngineId(id: string): string {
  return id.startsWith(PREFIX) ? id.slice(PREFIX.length) : id;
}
