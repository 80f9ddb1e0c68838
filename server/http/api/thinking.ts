// Whether a model thinks before it answers, how long, and whether that is told, in every API: Ollama's
// `think`, OpenAI's `reasoning_effort` and `reasoning`, Anthropic's `thinking`, and what vLLM, SGLang,
// llama-server, OpenRouter and Qwen's servers call the same. Pure.

import type { ChatRequest, ModelInfo } from "../../../engine/mod.ts";
import {
  type BodyOf,
  closed,
  flag,
  type Given,
  harmless,
  integer,
  list,
  only,
  optional,
  text,
  value,
  values,
} from "../body/schema.ts";
import { HttpError } from "../errors.ts";

const budget = { ...integer, description: "Another name of options.think_budget." } as const;

/** The members of requests about thinking. */
export const thinkingMembers = {
  think: { description: 'true, false, "low", "medium", "high" or "max".' },
  reasoning_effort: text,
  reasoning: optional(
    closed({
      effort: text,
      enabled: { ...flag, description: "Whether the model thinks, as OpenRouter has it." },
      max_tokens: budget,
      exclude: { ...flag, description: "Do not tell what was thought. Default false." },
      summary: text,
      generate_summary: harmless("what was thought is told as it is"),
    }),
  ),
  thinking: {
    ...optional(
      closed({
        type: { enum: ["enabled", "disabled", "adaptive", "auto"] },
        budget_tokens: {
          ...value,
          description:
            "Most tokens of thinking, where the server enforces it (QUERN_THINKING_BUDGET).",
        },
        display: {
          enum: ["summarized", "omitted", null],
          description: '"omitted": do not tell what was thought. Default "summarized".',
        },
        block_binding: harmless("signatures of thinking are not verified"),
        clear_thinking: harmless("the model's template decides which thinking it sees"),
      }, "type"),
    ),
    description: "Whether the model thinks before it answers.",
  },
  include_reasoning: { ...flag, description: "Whether what was thought is told. Default true." },
  enable_thinking: { ...flag, description: "What Qwen's servers call think." },
  chat_template_kwargs: {
    type: ["object", "null"],
    properties: {
      enable_thinking: { ...flag, description: "What think means." },
      thinking: { ...flag, description: "What think means." },
      reasoning_effort: text,
    },
    additionalProperties: value,
    description: "Further variables of the chat template. Their texts are data, like messages.",
  },
  documents: {
    ...list(values),
    description: "Texts that the chat template may show to the model, as its variable documents.",
  },
  thinking_token_budget: budget,
  thinking_budget: budget,
  thinking_budget_tokens: budget,
  reasoning_budget_tokens: budget,
  reasoning_format: {
    enum: ["auto", "deepseek", "parsed", "none", "raw", "hidden", null],
    description: '"none" or "raw": thinking is a part of the text, between <think> and </think>; ' +
      '"hidden": it is not told. Default: it is told apart.',
  },
  separate_reasoning: { ...flag, description: "false: what reasoning_format says by none." },
  stream_reasoning: only([true], "thinking is told as it comes"),
} as const;

const request = closed(thinkingMembers);

/** A body with these members. */
export type ThinkingBody = BodyOf<typeof request> & { model?: Given<string> };

/** What a request wants of a model's thinking. */
export interface Thinking {
  /** Undefined leaves it to the model. */
  think: Level | undefined;
  /** The bound that holds in any case. */
  budget: Pick<ChatRequest, "thinkBudget">;
  /** Most tokens of thinking, where the server enforces it. */
  thinkingBudget?: number;
  /** Whether the answer leaves out what was thought. */
  hidesThinking: boolean;
  /** Whether what was thought is a part of its text. */
  inlinesThinking: boolean;
  /** Variables of the chat template. */
  variables: Pick<ChatRequest, "templateVariables">;
  warnings: string[];
}

type Level = NonNullable<ChatRequest["think"]>;

const THINK_VALUES: readonly unknown[] = ["high", "medium", "low", "max", true, false];

/** The engine's levels of thinking by OpenAI's levels of effort. */
const LEVELS: Record<string, Level> = {
  none: false,
  minimal: "low",
  low: "low",
  medium: "medium",
  high: "high",
  xhigh: "max",
  ultra: "max",
  max: "max",
};

/**
 * Reads all of them. The first that is given goes before the others.
 *
 * @throws {HttpError} 400 if there is no such level, or the model does not think
 */
export function readThinking(body: ThinkingBody, info: ModelInfo): Thinking {
  const { think, param } = askedThinking(body);
  const warnings: string[] = [];
  if (think && !info.thinks) {
    const what = `"${body.model}" does not support thinking`;
    // Clients of Anthropic's API ask every model for it, and take what comes.
    if (param !== "thinking") throw new HttpError(400, what, param);
    if (body.thinking?.type === "enabled") warnings.push(`thinking: ${what}`);
  }
  const most = [
    body.thinking_token_budget,
    body.thinking_budget,
    body.thinking_budget_tokens,
    body.reasoning_budget_tokens,
    body.reasoning?.max_tokens,
  ].find((budget) => budget !== null && budget !== undefined && budget >= 0);
  const level = most === 0 ? false : think;
  const enforced = body.thinking?.budget_tokens;
  return {
    think: info.thinks || level === false ? level : undefined,
    budget: most ? { thinkBudget: most } : {},
    // What is no budget is none: it is never refused.
    ...(typeof enforced === "number" && enforced > 0 && { thinkingBudget: Math.ceil(enforced) }),
    hidesThinking: body.include_reasoning === false || body.reasoning?.exclude === true ||
      body.thinking?.display === "omitted" || body.reasoning_format === "hidden",
    inlinesThinking: body.reasoning_format === "none" || body.reasoning_format === "raw" ||
      body.separate_reasoning === false,
    variables: readVariables(body),
    warnings,
  };
}

/** The variables that say something else than whether the model thinks. */
function readVariables(
  { chat_template_kwargs: given, documents }: ThinkingBody,
): Pick<ChatRequest, "templateVariables"> {
  const { enable_thinking: _, thinking: __, reasoning_effort: ___, ...others } = given ?? {};
  const all = { ...others, ...(documents?.length && { documents }) };
  return Object.keys(all).length > 0 ? { templateVariables: all } : {};
}

/** Whether and how hard the model is to think, and the member that says so. */
function askedThinking(body: ThinkingBody): { think?: Level; param?: string } {
  const { think, reasoning, thinking, chat_template_kwargs: variables } = body;
  const asked: [param: string, think: Level | undefined][] = [
    ["think", readThink(think)],
    ["reasoning_effort", readLevel(body.reasoning_effort, "reasoning_effort")],
    ["reasoning.effort", readLevel(reasoning?.effort, "reasoning.effort")],
    ["reasoning.enabled", reasoning?.enabled ?? undefined],
    ["enable_thinking", body.enable_thinking ?? undefined],
    ["chat_template_kwargs.enable_thinking", variables?.enable_thinking ?? undefined],
    ["chat_template_kwargs.thinking", variables?.thinking ?? undefined],
    [
      "chat_template_kwargs.reasoning_effort",
      readLevel(variables?.reasoning_effort, "chat_template_kwargs.reasoning_effort"),
    ],
    ["thinking", readType(thinking?.type)],
  ];
  const [first] = asked.flatMap(([param, think]) => think === undefined ? [] : [{ param, think }]);
  return first ?? {};
}

function readThink(think: unknown): Level | undefined {
  if (think === undefined || think === null) return undefined;
  if (THINK_VALUES.includes(think)) return think as Level;
  throw new HttpError(
    400,
    `invalid think value: ${JSON.stringify(think)} ` +
      `(must be "high", "medium", "low", "max", true, or false)`,
    "think",
  );
}

function readLevel(effort: Given<string>, param: string): Level | undefined {
  if (!effort) return undefined;
  if (Object.hasOwn(LEVELS, effort)) return LEVELS[effort];
  const levels = Object.keys(LEVELS).map((level) => `"${level}"`).join(", ");
  throw new HttpError(
    400,
    `invalid reasoning value: "${effort}" (must be one of ${levels})`,
    param,
  );
}

/** Where the model may decide, nothing is asked of it. */
function readType(type: string | undefined): Level | undefined {
  return type === "disabled" ? false : type === "enabled" ? true : undefined;
}

/** Most tokens of thinking by level; more is as much as the model likes. */
const LEVEL_BUDGETS: Record<string, number> = { low: 1024, medium: 4096, high: 16_384 };

/**
 * Has chats end their thinking after the budget that the body asks for, or after that of their level.
 *
 * @param tasks the requests to the engine, which are changed
 */
export function enforceThinkingBudget(
  tasks:
    readonly ({ kind: "chat"; request: ChatRequest } | { kind: "generate"; request: unknown })[],
  asked: number | undefined,
): void {
  for (const { kind, request } of tasks) {
    if (kind !== "chat" || request.thinkBudget !== undefined) continue;
    const budget = asked ?? LEVEL_BUDGETS[String(request.think)];
    if (budget !== undefined) request.thinkBudget = budget;
  }
}
