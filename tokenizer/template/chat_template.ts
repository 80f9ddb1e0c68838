// A chat template (`tokenizer.chat_template`): conversation to prompt text. The language is Jinja,
// run by template/; this file gives templates what transformers gives them: bos_token, eos_token,
// raise_exception, and strftime_now with a clock of the caller's choice; and it says which of that
// is data: all that messages and tools say, but for the roles.
// Documented by Hugging Face, "Chat templates" in the transformers manual.

import { ChatTemplateError } from "../errors.ts";
import { RenderBudget, RenderLimitError } from "../text/render_budget.ts";
import { formatTime } from "./strftime.ts";
import { plain, taint, type Text } from "../text/tainted_text.ts";
import {
  CallArguments,
  Dictionary,
  isText,
  parseTemplate,
  type RenderOptions,
  renderStatements,
  type Statement,
  toJson,
  toValue,
  type Value,
} from "./jinja/mod.ts";

/** What a template is rendered with. */
export interface ChatTemplateInput {
  /** Plain objects in the shape that templates read: role, content, tool_calls ... */
  messages: readonly unknown[];
  /** JSON Schema functions as templates read them; an empty list is like none. */
  tools?: readonly unknown[] | undefined;
  /** Whether the prompt ends with the header of the answer; left out, the template decides. */
  addGenerationPrompt?: boolean | undefined;
  /** Further variables of the template, such as enable_thinking; they win over all others. */
  variables?: Readonly<Record<string, unknown>> | undefined;
}

/** A parsed chat template. */
export interface ChatTemplate {
  /**
   * The prompt text. Throws ChatTemplateError: fault "refused" where the template itself raises
   * an exception (its message is the template's), "failed" where it cannot be run, or not within
   * a budget.
   */
  render(input: ChatTemplateInput): string;
  /**
   * The same, with what is data in it.
   * @param budget of several renderings together. Default: one of its own
   */
  renderText(input: ChatTemplateInput, budget?: RenderBudget): Text;
}

/** What a template does not get from the conversation. */
export interface ChatTemplateOptions {
  /** The time that strftime_now gives. Default: now. */
  clock?: () => Date;
}

/**
 * Parses a chat template.
 * @param source Jinja source @param tokens pieces that bos_token and eos_token stand for
 * Throws ChatTemplateError with fault "syntax" where it does not parse.
 */
export function createChatTemplate(
  source: string,
  tokens: { bos?: string | undefined; eos?: string | undefined },
  options: ChatTemplateOptions = {},
): ChatTemplate {
  const clock = options.clock ?? (() => new Date());
  const statements = parse(source);
  return {
    render(input) {
      return plain(this.renderText(input));
    },
    renderText(input, budget = new RenderBudget()) {
      const strict = {
        bos_token: tokens.bos ?? "",
        eos_token: tokens.eos ?? "",
        messages: input.messages,
        tools: input.tools?.length ? input.tools : null,
        documents: null,
        ...(input.addGenerationPrompt !== undefined &&
          { add_generation_prompt: input.addGenerationPrompt }),
        ...input.variables,
      };
      let failure: unknown;
      for (const { variables, options } of attempts(strict, input, clock)) {
        try {
          return budget.run(() => run(statements, variables, clock, options));
        } catch (error) {
          if (!(error instanceof ChatTemplateError) || error.fault !== "failed") throw error;
          if (budget.isSpent) throw error.cause;
          failure ??= error;
        }
      }
      throw failure;
    },
  };
}

/**
 * What a template is run with: first what transformers gives it, then, where it fails with that,
 * more and more of what others do whose templates are about. One that runs is never run again.
 */
function* attempts(
  strict: Record<string, unknown>,
  input: ChatTemplateInput,
  clock: () => Date,
): Generator<{ variables: Record<string, unknown>; options?: RenderOptions }> {
  yield { variables: strict };
  // Templates made for tools loop over them unasked, or know them as a text called functions.
  const variables = {
    functions: writeJson((input.tools ?? []).map((tool) => (tool as Offer).function ?? tool), 4),
    datetime: formatTime(clock(), "%Y-%m-%d %H:%M:%S"),
    ...strict,
    tools: strict.tools ?? [],
  };
  yield { variables };
  // Other engines let macros see the names of their callers, and forgive what is undefined.
  const options = { isForgiving: true };
  yield { variables, options };
  // The arguments of calls are an object in transformers but a text in OpenAI's API.
  yield { variables: { ...variables, messages: input.messages.map(withTextArguments) }, options };
}

/** A tool as templates see it, as far as it is read here. */
interface Offer {
  function?: unknown;
}

/** A message as templates see it, as far as it is read here. */
interface Caller {
  tool_calls?: { function?: { arguments?: unknown } }[];
}

function withTextArguments(message: unknown): unknown {
  const calls = (message as Caller).tool_calls;
  if (!Array.isArray(calls)) return message;
  const withText = calls.map((call) => {
    const given = call.function?.arguments;
    if (given === undefined || typeof given === "string") return call;
    return { ...call, function: { ...call.function, arguments: writeJson(given) } };
  });
  return { ...message as Caller, tool_calls: withText };
}

function writeJson(data: unknown, indent?: number): string {
  const style = new Dictionary(indent === undefined ? [] : [["indent", indent]]);
  return plain(toJson(toValue(data), new CallArguments([], style)));
}

function parse(source: string): Statement[] {
  try {
    return parseTemplate(source);
  } catch (error) {
    throw new ChatTemplateError("syntax", `Cannot parse the chat template: ${reasonOf(error)}`, {
      cause: error,
    });
  }
}

function run(
  statements: Statement[],
  variables: Record<string, unknown>,
  clock: () => Date,
  options: RenderOptions | undefined,
): Text {
  const values = new Map<string, Value>([
    ["raise_exception", refuse],
    ["strftime_now", (args) => formatTime(clock(), args.plainText(0) ?? "")],
  ]);
  try {
    for (const [name, value] of Object.entries(variables)) {
      if (value === undefined) continue;
      if (name === "messages") values.set(name, toMessages(value));
      else values.set(name, toValue(value, DATA.includes(name) ? taint : plain));
    }
    return renderStatements(statements, values, options);
  } catch (error) {
    if (error instanceof ChatTemplateError) throw error;
    const isLimit = error instanceof RenderLimitError || isOverflow(error);
    const fault = isLimit ? "limit" : "failed";
    throw new ChatTemplateError(fault, `Cannot run the chat template: ${reasonOf(error)}`, {
      cause: error,
    });
  }
}

/** The variables besides the messages that hold what people or programs wrote. */
const DATA = ["tools", "functions", "documents"];

/** Roles are words of templates, which make marks of them. Any other is somebody's text. */
const ROLES = ["system", "developer", "user", "assistant", "tool", "function", "ipython"];

function toMessages(messages: unknown): Value {
  const values = toValue(messages, taint);
  for (const message of Array.isArray(values) ? values : []) {
    if (!(message instanceof Dictionary)) continue;
    const role = message.get("role");
    if (isText(role) && ROLES.includes(plain(role))) message.set("role", plain(role));
  }
  return values;
}

function refuse(args: CallArguments): never {
  const [message] = args.positional;
  throw new ChatTemplateError("refused", isText(message) ? plain(message) : "");
}

/** Whether the stack is full, or an array or a text would be larger than any may be. */
function isOverflow(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return error.constructor === RangeError || isOverflow(error.cause);
}

function reasonOf(error: unknown): string {
  if (isOverflow(error)) return "it nests too deeply, or makes too much at once";
  return error instanceof Error ? error.message : String(error);
}
