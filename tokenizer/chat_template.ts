// A chat template (`tokenizer.chat_template`): conversation to prompt text. The language is Jinja,
// run by @huggingface/jinja; this file gives templates what transformers gives them: trimmed blocks,
// bos_token and eos_token, raise_exception, and strftime_now with a clock of the caller's choice.
// Documented by Hugging Face, "Chat templates" in the transformers manual.

import { Environment, Interpreter, parse, tokenize } from "@huggingface/jinja";
import { ChatTemplateError } from "./errors.ts";
import { formatTime } from "./strftime.ts";

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
   * an exception (its message is the template's), "failed" where it cannot be run.
   */
  render(input: ChatTemplateInput): string;
}

/** What a template does not get from the conversation. */
export interface ChatTemplateOptions {
  /** The time that strftime_now gives. Default: now. */
  clock?: () => Date;
}

/** A model's file may hold any template: none may make a list that fills the memory. */
const MAXIMUM_RANGE = 100_000;

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
  const program = parseTemplate(source);
  return {
    render(input) {
      const variables = {
        ...constants,
        strftime_now: (format: string) => formatTime(clock(), format),
        bos_token: tokens.bos ?? "",
        eos_token: tokens.eos ?? "",
        messages: input.messages,
        documents: null,
        ...(input.addGenerationPrompt !== undefined &&
          { add_generation_prompt: input.addGenerationPrompt }),
      };
      const renderWith = (tools: unknown) =>
        run(program, { ...variables, tools, ...input.variables });
      if (input.tools?.length) return renderWith(input.tools);
      try {
        return renderWith(null);
      } catch (error) {
        if (!(error instanceof ChatTemplateError) || error.fault !== "failed") throw error;
        // Templates made for tools loop over them unasked; others print even an empty list.
        return renderWith([]);
      }
    },
  };
}

const constants = {
  true: true,
  false: false,
  none: null,
  True: true,
  False: false,
  None: null,
  range,
  raise_exception(message: unknown): never {
    throw new ChatTemplateError("refused", String(message));
  },
};

function parseTemplate(source: string): ReturnType<typeof parse> {
  try {
    return parse(tokenize(source, { lstrip_blocks: true, trim_blocks: true }));
  } catch (error) {
    throw new ChatTemplateError("syntax", `Cannot parse the chat template: ${reasonOf(error)}`, {
      cause: error,
    });
  }
}

function run(program: ReturnType<typeof parse>, variables: Record<string, unknown>): string {
  try {
    const environment = new Environment();
    for (const [name, value] of Object.entries(variables)) environment.set(name, value);
    return String(new Interpreter(environment).run(program).value);
  } catch (error) {
    if (error instanceof ChatTemplateError) throw error;
    throw new ChatTemplateError("failed", `Cannot run the chat template: ${reasonOf(error)}`, {
      cause: error,
    });
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Python's range(). */
function range(start: number, stop?: number, step = 1): number[] {
  const [from, to] = stop === undefined ? [0, start] : [start, stop];
  const length = Math.max(0, Math.ceil((to - from) / step));
  if (!(length <= MAXIMUM_RANGE)) {
    throw new Error(`range() of ${length} numbers: at most ${MAXIMUM_RANGE} are allowed`);
  }
  return Array.from({ length }, (_, index) => from + index * step);
}
