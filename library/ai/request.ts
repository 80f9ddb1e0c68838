// The options of a call of AI SDK as a request of the library. What has no counterpart becomes a warning,
// as AI SDK wants it; a member of `providerOptions.quern` that is none of the library's is an error.

import type { ChatRequest, Tool } from "../../mod.ts";
import type { LanguageModelV4CallOptions, SharedV4Warning } from "./dependencies.ts";
import { UnsupportedRequestError } from "./errors.ts";
import { messagesOf } from "./prompt.ts";

/** Options of chats that `providerOptions.quern` may have, beyond those of AI SDK. */
export const PROVIDER_OPTIONS = [
  ...["minP", "typicalP", "topNSigma", "xtcProbability", "xtcThreshold"],
  ...["repeatPenalty", "repeatLastN", "dynatempRange", "dynatempExponent"],
  ...["mirostat", "mirostatTau", "mirostatEta"],
  ...["dryMultiplier", "dryBase", "dryAllowedLength", "dryLastN", "dryBreakers"],
  ...["minTokens", "badWords", "logitBias", "stopTokens", "allowedTokens"],
  ...["think", "thinkBudget", "parallelToolCalls", "continueFinalMessage", "truncate", "template"],
  ...["openObjects", "finish", "format", "contextLength", "background", "draftTokens"],
] as (keyof ChatRequest & string)[];

/** A request, and what of the options it leaves out. */
export interface ReadOptions {
  readonly request: ChatRequest;
  readonly warnings: SharedV4Warning[];
}

const THINKING = {
  "provider-default": undefined,
  none: false,
  minimal: "low",
  low: "low",
  medium: "medium",
  high: "high",
  xhigh: "max",
  max: "max",
} as const;

/** The request of a call. @throws {UnsupportedRequestError} */
export function requestOf(options: LanguageModelV4CallOptions): ReadOptions {
  const warnings: SharedV4Warning[] = [];
  const { responseFormat, toolChoice, reasoning = "provider-default" } = options;
  const tools = toolsOf(options.tools ?? [], warnings);
  if (responseFormat?.type === "json" && responseFormat.description !== undefined) {
    const details = "The model is not told the description; say it in the prompt.";
    warnings.push({ type: "unsupported", feature: "responseFormat.description", details });
  }
  const think = THINKING[reasoning];
  const request: ChatRequest = {
    messages: messagesOf(options.prompt),
    ...given({
      maxTokens: options.maxOutputTokens,
      temperature: options.temperature,
      topP: options.topP,
      topK: options.topK,
      presencePenalty: options.presencePenalty,
      frequencyPenalty: options.frequencyPenalty,
      seed: options.seed,
      stop: options.stopSequences,
      signal: options.abortSignal,
      think,
      tools: tools.length > 0 ? tools : undefined,
      toolChoice: toolChoice?.type === "tool" ? { name: toolChoice.toolName } : toolChoice?.type,
      format: responseFormat?.type !== "json"
        ? undefined
        : responseFormat.schema === undefined
        ? "json"
        : { schema: responseFormat.schema },
    }),
    ...ownOptions(options.providerOptions?.quern ?? {}),
  };
  return { request, warnings };
}

function toolsOf(
  tools: NonNullable<LanguageModelV4CallOptions["tools"]>,
  warnings: SharedV4Warning[],
): Tool[] {
  return tools.flatMap((tool): Tool[] => {
    if (tool.type === "provider") {
      const details = "Tools of other providers run on their servers.";
      warnings.push({ type: "unsupported", feature: `tool "${tool.id}"`, details });
      return [];
    }
    const { name, description, inputSchema, inputExamples = [], strict } = tool;
    if (inputExamples.length > 0) {
      const details = "Templates have no place for examples; describe them.";
      warnings.push({ type: "unsupported", feature: `inputExamples of "${name}"`, details });
    }
    const parameters = inputSchema as Record<string, unknown>;
    return [{
      type: "function",
      function: { name, parameters, ...given({ description, strict }) },
    }];
  });
}

function ownOptions(own: Readonly<Record<string, unknown>>): Partial<ChatRequest> {
  const wrong = Object.keys(own).find((name) => !(PROVIDER_OPTIONS as string[]).includes(name));
  if (wrong === undefined) return own as Partial<ChatRequest>;
  throw new UnsupportedRequestError(
    `Cannot read providerOptions.quern: there is no option "${wrong}"; there are ` +
      PROVIDER_OPTIONS.join(", "),
  );
}

/** The members that have a value. */
function given<T extends object>(members: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const entries = Object.entries(members).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [K in keyof T]?: Exclude<T[K], undefined> };
}
