// The engine's requests -> bodies of OpenAI's API, with the additional members of vLLM and SGLang;
// a server that does not know these refuses them. Pure.
// Format: https://platform.openai.com/docs/api-reference/chat

import {
  type ChatMessage,
  type ChatRequest,
  continuesFinalMessage,
  type GenerateRequest,
  type OptionInfo,
  OPTIONS,
  type OutputFormat,
  RequestError,
  type ToolCall,
} from "../../engine/mod.ts";
import { type ComposedContent, piecesOf } from "../text/image_mark.ts";
import { newCallId } from "./events.ts";
import { given } from "../given.ts";
import { dataUrlOf, schemaOf } from "./dialect.ts";

/** The programs whose additions to OpenAI's API are known, by `owned_by` in their lists of models. */
export type ServerProgram = "vllm" | "sglang" | "other";

/**
 * The body of POST /v1/chat/completions.
 *
 * @throws {RequestError} for what the API has no way to say
 */
export function toChat(model: string, request: ChatRequest, program: ServerProgram) {
  if (request.template !== undefined || request.context?.length) {
    throw new RequestError(
      "Cannot forward a template or a context to a server with OpenAI's API: ask without it",
    );
  }
  const { logprobs, tools, toolChoice, parallelToolCalls } = request;
  return {
    ...common(model, request, program),
    messages: toMessages(request.messages),
    ...(logprobs !== undefined && { logprobs: true, top_logprobs: logprobs }),
    ...(tools?.length && {
      tools,
      ...given({ tool_choice: toToolChoice(toolChoice), parallel_tool_calls: parallelToolCalls }),
    }),
    ...toThinking(request.think),
    // Other servers know no such members: some continue the last message by themselves.
    ...(program !== "other" && continuesFinalMessage(request) &&
      { continue_final_message: true, add_generation_prompt: false }),
  };
}

/**
 * The body of POST /v1/completions.
 *
 * @throws {RequestError} for what the API has no way to say
 */
export function toCompletion(model: string, request: GenerateRequest, program: ServerProgram) {
  const { prompt, suffix, logprobs, context } = request;
  if (context?.length) {
    throw new RequestError(
      "Cannot forward a context to a server with OpenAI's API: ask without it",
    );
  }
  if (request.images?.length) {
    throw new RequestError(
      "Cannot forward images with a prompt to a server with OpenAI's API: ask in a chat",
    );
  }
  return { ...common(model, request, program), prompt, ...given({ suffix, logprobs }) };
}

/**
 * A conversation. Calls without an id get one, and results get the id of the next call without a
 * result.
 */
export function toMessages(messages: readonly ChatMessage[]): unknown[] {
  let waiting: string[] = [];
  return messages.map(({ role, thinking, toolCalls, toolCallId, ...shown }) => {
    const content = toContent(shown);
    if (role === "tool") {
      const id = toolCallId ?? waiting[0] ?? newCallId();
      waiting = waiting.filter((other) => other !== id);
      return { role, content, tool_call_id: id };
    }
    const calls = toolCalls?.map(toCall);
    waiting = calls?.map(({ id }) => id) ?? [];
    const isEmpty = calls !== undefined && content === "";
    return {
      role,
      content: isEmpty ? null : content,
      ...given({ reasoning_content: thinking, tool_calls: calls }),
    };
  });
}

function toContent(shown: ComposedContent): unknown {
  if (!shown.images?.length) return shown.content;
  return piecesOf(shown).map((piece) =>
    typeof piece === "string"
      ? { type: "text", text: piece }
      : { type: "image_url", image_url: { url: dataUrlOf(piece.image) } }
  );
}

function common(
  model: string,
  request: ChatRequest | GenerateRequest,
  program: ServerProgram,
): Record<string, unknown> {
  return {
    model,
    stream: true,
    stream_options: { include_usage: true },
    ...given(Object.fromEntries(
      Object.entries<OptionInfo>(OPTIONS).flatMap(([name, { openai, name: own }]) =>
        openai === "" ? [] : [[openai ?? own, request[name as keyof typeof OPTIONS]]]
      ),
    )),
    ...given({
      chat_template_kwargs: (request as ChatRequest).templateVariables,
      logit_bias: request.logitBias,
      stop_token_ids: request.stopTokens,
      allowed_token_ids: request.allowedTokens,
    }),
    ...(request.format !== undefined && toFormat(request.format, program)),
  };
}

function toFormat(format: OutputFormat, program: ServerProgram): Record<string, unknown> {
  if (format === "json") return { response_format: { type: "json_object" } };
  if ("schema" in format) {
    const schema = { name: "answer", schema: schemaOf(format), strict: true };
    return { response_format: { type: "json_schema", json_schema: schema } };
  }
  if ("grammar" in format && typeof format.grammar !== "string") {
    throw new RequestError("Cannot forward a grammar that is no text: write it as GBNF");
  }
  if (program === "vllm") {
    const { pattern, grammar } = format as { pattern?: string; grammar?: string };
    return { structured_outputs: given({ regex: pattern, grammar }) };
  }
  if (program === "sglang") {
    return "pattern" in format ? { regex: format.pattern } : { ebnf: format.grammar };
  }
  throw new RequestError(
    "Grammars and patterns are forwarded to vLLM and SGLang, and this server is neither: " +
      "use a JSON Schema",
  );
}

/**
 * Levels of thinking are OpenAI's; turning it on or off is an argument of the template, DeepSeek's
 * has another name.
 */
function toThinking(think: ChatRequest["think"]): Record<string, unknown> {
  if (think === undefined) return {};
  if (typeof think === "string") return { reasoning_effort: think === "max" ? "high" : think };
  return { chat_template_kwargs: { enable_thinking: think, thinking: think } };
}

function toToolChoice(choice: ChatRequest["toolChoice"]): unknown {
  if (typeof choice !== "object") return choice;
  return { type: "function", function: { name: choice.name } };
}

function toCall({ id = newCallId(), function: { name, arguments: values } }: ToolCall) {
  return { id, type: "function", function: { name, arguments: JSON.stringify(values) } };
}
