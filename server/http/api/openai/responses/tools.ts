// The tools of POST /v1/responses: functions, alone or in namespaces, which group those of one origin.
// The engine knows no namespaces: a function in one has the name namespace__name there, and calls of it
// are told with both parts. Pure. Format: https://platform.openai.com/docs/api-reference/responses/create

import type { Given } from "../../../body/schema.ts";
import { refusal } from "../errors.ts";
import type { ToldFunction, ToldTool } from "./answer_schema.ts";
import type { ResponsesBody, ResponseTool } from "../schema.ts";
import type { WireFunction } from "../../tools.ts";
import { refuseOtherTools } from "../../tool_choice.ts";

/** How a call names its function on the wire. */
export interface CalledFunction {
  name: string;
  namespace?: string;
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

/** How calls of the functions in namespaces are told, by the engine's names. */
export function namespacedFunctions({ tools }: ResponsesBody): Map<string, CalledFunction> {
  const called = new Map<string, CalledFunction>();
  for (const { type, name: namespace, tools: inner } of tools ?? []) {
    if (type !== "namespace" || !namespace) continue;
    for (const { name } of inner ?? []) {
      if (name) called.set(engineName(name, namespace), { name, namespace });
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
          tools: (inner ?? []).map(toldFunction),
        };
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
  refuseOtherTools(tool.type, path);
  const { name } = tool;
  if (!name) throw refusal(`${path} lacks "name"`, "tools");
  return { ...tool, name };
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
