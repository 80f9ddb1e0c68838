// A chat template (`tokenizer.chat_template`): from a conversation to the text of a prompt. The
// language is Jinja (jinja/). This file adds the variables and functions that transformers adds:
// bos_token, eos_token, raise_exception, and strftime_now with the caller's clock. It marks as data
// everything that messages and tools contain, except the roles. Documented by Hugging Face, "Chat
// templates" in the transformers manual.

import { ChatTemplateError } from "../errors.ts";
import { RenderBudget, RenderLimitError } from "../text/render_budget.ts";
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

/** The input of a rendering. */
export interface ChatTemplateInput {
  /** Plain objects with the members that templates read: role, content, tool_calls ... */
  messages: readonly unknown[];
  /** Functions with JSON Schemas, as templates read them. An empty list is the same as none. */
  tools?: readonly unknown[] | undefined;
  /** Whether the prompt ends with the header of the answer. Default: as the template decides. */
  addGenerationPrompt?: boolean | undefined;
  /** Further variables, whose texts are data, such as documents. All others go before them. */
  data?: Readonly<Record<string, unknown>> | undefined;
  /**
   * Further variables of the template, such as enable_thinking. They take precedence over all
   * others.
   */
  variables?: Readonly<Record<string, unknown>> | undefined;
}

/** A parsed chat template. */
export interface ChatTemplate {
  /**
   * The text of the prompt. Errors: ChatTemplateError with fault "refused" and the template's
   * message if the template raises an exception, "failed" if it cannot be run, "limit" if it
   * exceeds the budget.
   */
  render(input: ChatTemplateInput): string;
  /**
   * The text of the prompt, with its parts that are data.
   * @param budget shared by several renderings. Default: a new one
   */
  renderText(input: ChatTemplateInput, budget?: RenderBudget): Text;
}

export interface ChatTemplateOptions {
  /** The clock of strftime_now. Default: the current time. */
  clock?: () => Date;
}

/**
 * Parses a chat template.
 * @param source Jinja source
 * @param tokens pieces of bos_token and eos_token
 * @throws ChatTemplateError with fault "syntax" if it does not parse
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
      const own = {
        bos_token: tokens.bos ?? "",
        eos_token: tokens.eos ?? "",
        messages: input.messages,
        tools: input.tools?.length ? input.tools : null,
        ...(input.addGenerationPrompt !== undefined &&
          { add_generation_prompt: input.addGenerationPrompt }),
        ...input.variables,
      };
      const strict = { documents: null, ...input.data, ...own };
      const data = Object.keys(input.data ?? {}).filter((name) => !Object.hasOwn(own, name));
      let failure: unknown;
      for (const { variables, options } of attempts(strict, input, clock)) {
        try {
          return budget.run(() => run(statements, variables, [...DATA, ...data], clock, options));
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
 * The variables and options to run a template with: first those of transformers; then, only if the
 * template fails with these, those of other engines for which templates were written.
 */
function* attempts(
  strict: Record<string, unknown>,
  input: ChatTemplateInput,
  clock: () => Date,
): Generator<{ variables: Record<string, unknown>; options?: RenderOptions }> {
  yield { variables: strict };
  // Templates for tools that use them even if there are none, or expect a text named "functions".
  const variables = {
    functions: writeJson((input.tools ?? []).map((tool) => (tool as Offer).function ?? tool), 4),
    datetime: formatTime(clock(), "%Y-%m-%d %H:%M:%S"),
    ...strict,
    tools: strict.tools ?? [],
  };
  yield { variables };
  // In other engines macros see the variables of their callers, and undefined values have members.
  const options = { isForgiving: true };
  yield { variables, options };
  // The arguments of calls are an object in transformers, but a text in OpenAI's API.
  yield { variables: { ...variables, messages: input.messages.map(withTextArguments) }, options };
}

/** The members of a tool that are read here. */
interface Offer {
  function?: unknown;
}

/** The members of a message that are read here. */
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
  data: readonly string[],
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
      else values.set(name, toValue(value, data.includes(name) ? taint : plain));
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

/** The variables, besides messages, that contain what people or programs wrote. */
const DATA = ["tools", "functions", "documents"];

/**
 * Roles that count as the template's words, because templates make marks of them. Any other role is
 * data.
 */
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

/** Whether the error is a stack overflow, or an array or text beyond the engine's limits. */
function isOverflow(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return error.constructor === RangeError || isOverflow(error.cause);
}

function reasonOf(error: unknown): string {
  if (isOverflow(error)) return "it nests too deeply, or makes too much at once";
  return error instanceof Error ? error.message : String(error);
}

// Python's strftime for chat templates, which write today's date into system prompts. Names are
// English whatever the locale, because models were trained with them. Local time, as in Python.

const months =
  "January February March April May June July August September October November December"
    .split(" ");
const weekdays = "Sunday Monday Tuesday Wednesday Thursday Friday Saturday".split(" ");

function pad(value: number, width = 2): string {
  return String(value).padStart(width, "0");
}

function dayOfYear(date: Date): number {
  const [year, month, day] = [date.getFullYear(), date.getMonth(), date.getDate()];
  return (Date.UTC(year, month, day) - Date.UTC(year, 0, 0)) / 86_400_000;
}

const directives: Readonly<Record<string, (date: Date) => string>> = {
  Y: (date) => String(date.getFullYear()),
  y: (date) => pad(date.getFullYear() % 100),
  m: (date) => pad(date.getMonth() + 1),
  B: (date) => months[date.getMonth()]!,
  b: (date) => months[date.getMonth()]!.slice(0, 3),
  d: (date) => pad(date.getDate()),
  e: (date) => String(date.getDate()).padStart(2, " "),
  A: (date) => weekdays[date.getDay()]!,
  a: (date) => weekdays[date.getDay()]!.slice(0, 3),
  H: (date) => pad(date.getHours()),
  I: (date) => pad(date.getHours() % 12 || 12),
  p: (date) => date.getHours() < 12 ? "AM" : "PM",
  M: (date) => pad(date.getMinutes()),
  S: (date) => pad(date.getSeconds()),
  j: (date) => pad(dayOfYear(date), 3),
  D: (date) => formatTime(date, "%m/%d/%y"),
  F: (date) => formatTime(date, "%Y-%m-%d"),
  R: (date) => formatTime(date, "%H:%M"),
  T: (date) => formatTime(date, "%H:%M:%S"),
  "%": () => "%",
};

/**
 * Formats `date` by `format`. `%-d` is `%d` without a leading zero; unknown directives stay as they
 * are.
 */
function formatTime(date: Date, format: string): string {
  return format.replace(/%(-?)([A-Za-z%])/g, (directive, minus: string, letter: string) => {
    const text = Object.hasOwn(directives, letter) ? directives[letter]!(date) : directive;
    return minus === "" ? text : text.replace(/^[0 ]+(?=.)/, "");
  });
}
