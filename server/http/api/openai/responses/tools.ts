// The tools of POST /v1/responses: functions, and custom tools, which are called with a text, alone or
// in namespaces, which group those of one origin. Others run on OpenAI's servers: they are skipped.
// The engine knows no namespaces: a function in one has the name namespace__name there, and calls of it
// are told with both parts. Pure. Format: https://platform.openai.com/docs/api-reference/responses/create

import type { Given } from "../../../body/schema.ts";
import { refusal } from "../errors.ts";
import type { ToldCustom, ToldFunction, ToldTool } from "./answer_schema.ts";
import type { ResponsesBody, ResponseTool } from "../schema.ts";
import type { WireFunction } from "../../tools.ts";
import { refuseOtherTools } from "../../tool_choice.ts";

/** How a call names its function on the wire. */
export interface CalledFunction {
  name: string;
  namespace?: string;
  /** Whether it is a custom tool, whose only argument is its input. */
  isCustom?: boolean;
}

/** The types of tools that a model is told of. */
const TYPES = ["function", "custom", "namespace"];

/** The types of skipped tools, and the body without them. */
export interface Skipped {
  body: unknown;
  warnings: string[];
}

/**
 * A body without the tools of other types, whose members are not known either, and a sentence about
 * each. Clients such as Codex offer all tools that OpenAI has.
 */
export function withoutOtherTools(body: unknown): Skipped {
  const warnings: string[] = [];
  const keep = (tools: readonly unknown[], path: string): unknown[] =>
    tools.flatMap((tool, index) => {
      const at = `${path}[${index}]`;
      const { type, tools: inner } = (tool ?? {}) as ResponseTool;
      if (typeof type !== "string" || asksNothingOfTheWeb(tool as ResponseTool)) return [tool];
      if (!TYPES.includes(type)) {
        warnings.push(`${at}: tools of type "${type}" do not run here, so the model has none`);
        return [];
      }
      return [
        Array.isArray(inner) ? { ...tool as object, tools: keep(inner, `${at}.tools`) } : tool,
      ];
    });
  const { tools } = (body ?? {}) as { tools?: unknown };
  if (!Array.isArray(tools)) return { body, warnings };
  return { body: { ...body as object, tools: keep(tools, "tools") }, warnings };
}

/** What is said of formats of custom tools that no mask holds, a sentence each. */
export function unheldFormats({ tools }: ResponsesBody): string[] {
  return allTools(tools ?? []).flatMap(({ type, name, format }) =>
    type === "custom" && format?.syntax === "lark"
      ? [`tool "${name}": its Lark grammar is told to the model, and not enforced`]
      : []
  );
}

function allTools(tools: readonly ResponseTool[]): ResponseTool[] {
  return tools.flatMap((tool) => tool.type === "namespace" ? tool.tools ?? [] : [tool]);
}

/** The name of a function as the engine has it. */
export function engineName(name: string, namespace: Given<string>): string {
  return namespace ? `${namespace}__${name}` : name;
}

/**
 * The functions under the engine's names. The first of a namespace says what the namespace is for.
 *
 * @throws {HttpError} 400 if one has no name or another kind
 */
export function functionsOf({ tools }: ResponsesBody): WireFunction[] {
  return (tools ?? []).flatMap((tool, index) => {
    const path = `tools[${index}]`;
    if (asksNothingOfTheWeb(tool)) return [];
    if (tool.type !== "namespace") return [toFunction(tool, path)];
    const { name: namespace, description } = tool;
    if (!namespace) throw refusal(`${path} lacks "name"`, "tools");
    return (tool.tools ?? []).map((inner, position) => {
      const read = toFunction(inner, `${path}.tools[${position}]`);
      const purpose = position === 0 && description;
      return {
        ...read,
        name: engineName(read.name, namespace),
        ...(purpose && { description: [purpose, read.description].filter(Boolean).join("\n") }),
      };
    });
  });
}

/** How calls of functions in namespaces and of custom tools are told, by the engine's names. */
export function calledFunctions({ tools }: ResponsesBody): Map<string, CalledFunction> {
  const called = new Map<string, CalledFunction>();
  for (const tool of tools ?? []) {
    const namespace = tool.type === "namespace" ? tool.name : undefined;
    for (const { name, type } of namespace ? tool.tools ?? [] : [tool]) {
      const isCustom = type === "custom";
      if (!name || !namespace && !isCustom) continue;
      const how = { name, ...(namespace && { namespace }), ...(isCustom && { isCustom }) };
      called.set(engineName(name, namespace), how);
    }
  }
  return called;
}

/** The tools as a response repeats them. */
export function toolsTold({ tools }: ResponsesBody): ToldTool[] {
  return (tools ?? []).map((tool) => {
    const { type, name = "", description, tools: inner } = tool;
    switch (type) {
      case "namespace":
        return {
          type,
          name,
          description: description ?? null,
          tools: (inner ?? []).map((tool) =>
            tool.type === "custom" ? toldCustom(tool) : toldFunction(tool)
          ),
        };
      case "custom":
        return toldCustom(tool);
      case "web_search":
        return { type, external_web_access: false };
      default:
        return toldFunction(tool);
    }
  });
}

/**
 * Whether a tool is a web search that may use only pages that the server has cached. Here there are
 * none, so the tool is ignored instead of refused: Codex sends it by default.
 */
function asksNothingOfTheWeb({ type, external_web_access }: ResponseTool): boolean {
  return type === "web_search" && external_web_access === false;
}

function toFunction(tool: ResponseTool, path: string): WireFunction {
  const { name, type } = tool;
  if (!name) throw refusal(`${path} lacks "name"`, "tools");
  if (type === "custom") return { ...customFunction(tool), name };
  refuseOtherTools(type, path);
  return { ...tool, name };
}

/** A custom tool as a function of its input. */
function customFunction(
  { description, format }: ResponseTool,
): Pick<WireFunction, "description" | "parameters"> {
  const { syntax, definition } = format ?? {};
  const grammar = syntax === "lark" && definition
    ? `The input has this grammar:\n${definition}`
    : "";
  const pattern = syntax === "regex" && definition ? { pattern: `^(?:${definition})$` } : {};
  return {
    description: [description, grammar].filter(Boolean).join("\n"),
    parameters: {
      type: "object",
      properties: { input: { type: "string", ...pattern } },
      required: ["input"],
      additionalProperties: false,
    },
  };
}

function toldCustom({ name = "", description, format }: ResponseTool): ToldCustom {
  return {
    type: "custom",
    name,
    description: description ?? null,
    format: { ...format, type: format?.type ?? "text" },
  };
}

function toldFunction({ name = "", description, parameters, strict }: ResponseTool): ToldFunction {
  return {
    type: "function",
    name,
    description: description ?? null,
    parameters: parameters ?? null,
    strict: strict ?? false,
  };
}
