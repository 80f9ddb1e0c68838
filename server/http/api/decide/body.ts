// A request for decisions -> the engine's request, and its answers -> those of OpenAI's path and of the
// native one. Calls of tools and their outputs become texts of the conversation, so that every chat
// template shows them. Pure. Format: https://platform.openai.com/docs/api-reference/decisions

import type {
  ChatMessage,
  DecideRequest,
  DecideResult,
  DecisionQuestion,
} from "../../../../engine/mod.ts";
import { HttpError } from "../../errors.ts";
import { readLora } from "../lora.ts";
import { type Loading, nanoseconds, readOptions } from "../options.ts";
import type { DecideAnswer, Decision } from "./answer_schema.ts";
import type { DecideBody, DecisionContent, DecisionItem, WireQuestion } from "./schema.ts";

/** A request for decisions, translated. */
export interface DecideTranslation extends Loading {
  request: DecideRequest;
}

/** The result of a request for decisions. Times in milliseconds. */
export interface DecideOutcome {
  /** As the client wrote it. */
  model: string;
  result: DecideResult;
  total: number;
  load: number;
}

/** The most questions of a request, and the most choices or levels of a question, as OpenAI has them. */
const MOST_QUESTIONS = 400;
const MOST_OPTIONS = 255;

/**
 * Translates a body.
 *
 * @throws {HttpError} 400 for what cannot be done, with the member at fault
 */
export function translateDecide(body: DecideBody): DecideTranslation {
  const { loading } = readOptions(body.options, body.keep_alive);
  const { contextLength, gpuLayers, prefillChunk } = loading;
  const lora = readLora(body.lora);
  const questions = body.questions ?? [];
  if (questions.length === 0) throw refusal("questions", "needs at least one question");
  if (questions.length > MOST_QUESTIONS) {
    throw refusal("questions", `has ${questions.length}, at most ${MOST_QUESTIONS} are possible`);
  }
  return {
    request: {
      input: readInput(body.input),
      questions: questions.map(readQuestion),
      ...(lora && { lora }),
      ...(contextLength !== undefined && { contextLength }),
      ...(gpuLayers !== undefined && { gpuLayers }),
      ...(prefillChunk !== undefined && { prefillChunk }),
    },
    ...loading,
  };
}

/** The answer of POST /v1/decisions. */
export function openAiDecision({ model, result }: DecideOutcome): Decision {
  const { answers, promptTokens } = result;
  return {
    answers: answers.map(({ mass: _, ...answer }) => answer),
    model,
    usage: {
      input_tokens: promptTokens,
      input_tokens_details: { cache_write_tokens: 0, cached_tokens: 0 },
      output_tokens: 0,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: promptTokens,
    },
  };
}

/** The answer of POST /api/decide. */
export function nativeDecision({ model, result, total, load }: DecideOutcome): DecideAnswer {
  return {
    model,
    answers: result.answers,
    total_duration: nanoseconds(total),
    load_duration: nanoseconds(load),
    prompt_eval_count: result.promptTokens,
  };
}

function readInput(input: DecideBody["input"]): DecideRequest["input"] {
  if (input === undefined || input === null || input.length === 0) {
    throw refusal("input", "is missing: give a text, or messages");
  }
  if (typeof input === "string") return input;
  const calls = new Set<string>();
  return input.map((item, index) => readItem(item, `input[${index}]`, calls));
}

/** @param calls ids of the calls so far */
function readItem(item: DecisionItem, path: string, calls: Set<string>): ChatMessage {
  const { type, role, content, call_id: id, name, output } = item;
  switch (type ?? "message") {
    case "message":
      if (!role) throw refusal(`${path}.role`, "is missing");
      return {
        role: role === "developer" ? "system" : role,
        content: readText(content, `${path}.content`),
      };
    case "function_call":
    case "custom_tool_call":
      if (!id) throw refusal(`${path}.call_id`, "is missing");
      if (!name) throw refusal(`${path}.name`, "is missing");
      calls.add(id);
      return {
        role: "assistant",
        content: `Call of ${name}: ${item.arguments ?? item.input ?? ""}`,
      };
    case "function_call_output":
    case "custom_tool_call_output":
      if (!id || !calls.has(id)) {
        throw refusal(`${path}.call_id`, `is "${id ?? ""}", and there is no such call before it`);
      }
      return { role: "user", content: `Result: ${readText(output, `${path}.output`)}` };
    default:
      throw refusal(`${path}.type`, `is "${type}", which decisions do not have`);
  }
}

function readText(content: DecisionContent | undefined, path: string): string {
  if (typeof content === "string") return content;
  const parts = (content ?? []).map((part, index) => {
    const where = `${path}[${index}]`;
    switch (part.type) {
      case "input_image":
        throw refusal(where, "is an image, and decisions read text alone");
      case "input_json":
        if (part.data === undefined || part.data === null) throw refusal(where, 'lacks "data"');
        return JSON.stringify(part.data);
      default:
        return part.text ?? part.refusal ?? "";
    }
  });
  return parts.join("\n");
}

function readQuestion(question: WireQuestion, index: number): DecisionQuestion {
  const path = `questions[${index}]`;
  const { type, name, choices, levels } = question;
  const instructions = readText(question.instructions, `${path}.instructions`);
  if (instructions.trim() === "") throw refusal(`${path}.instructions`, "is missing");
  for (const [member, its] of [["choices", "choice"], ["levels", "score"]] as const) {
    if (question[member]?.length && type !== its) {
      throw refusal(`${path}.${member}`, `goes with type "${its}", and this is a ${type}`);
    }
  }
  const common = { name: name ?? null, instructions };
  if (type === "predicate") return { type, ...common };
  const [member, options] = type === "choice"
    ? ["choices", choices?.map(({ value }) => value) ?? []] as const
    : ["levels", levels?.map(({ label }) => label) ?? []] as const;
  const where = `${path}.${member}`;
  if (options.length < 2) throw refusal(where, "needs at least two");
  if (options.length > MOST_OPTIONS) {
    throw refusal(where, `has ${options.length}, at most ${MOST_OPTIONS} are possible`);
  }
  const all: readonly (string | boolean)[] = options;
  for (const [at, option] of all.entries()) {
    if (`${option}`.trim() === "") throw refusal(`${where}[${at}]`, "is empty");
    const before = all.indexOf(option);
    if (before < at) throw refusal(`${where}[${at}]`, `is the same as ${member}[${before}]`);
  }
  const described = <T extends { description?: string | null | undefined }>(option: T) => {
    return { ...option, description: option.description ?? undefined };
  };
  return type === "choice"
    ? { type, ...common, choices: choices!.map(described) }
    : { type, ...common, levels: levels!.map(described) };
}

function refusal(member: string, state: string): HttpError {
  return new HttpError(400, `${member} ${state}`, member);
}
