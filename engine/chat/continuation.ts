// A last message that the answer continues ("prefill"): the prompt ends with its text, with no mark
// of an end behind it. The template is run with sentinels in place of the message's texts and cut
// off there, as in transformers' continue_final_message, so that it can neither trim nor rewrite
// what is continued.

import { addText, cutText, joinTexts, plain, taint, type Text } from "../../tokenizer/mod.ts";
import { RequestError } from "../errors.ts";
import type { ChatMessage, ChatRequest } from "../types/mod.ts";
import { beginsThinking, endsThinking } from "./answers/answer_parser.ts";
import type { ThinkingMarks } from "./answers/types.ts";
import type { Render } from "./render.ts";

/** The prompt of a conversation. */
export interface RenderedPrompt {
  /** The prompt, up to the answer. */
  readonly head: Text;
  /** The beginning of the answer, which belongs to the prompt, too; empty: the answer is all new. */
  readonly begun: string;
}

/** Text that stands for the content of the last message. */
const CONTENT = sentinel();

/** Text that stands for its thinking. */
const THINKING = sentinel();

/**
 * A text that no message contains by intention. It stays the same in either case, and is not found
 * where a template escapes it, as in JSON, since what follows would have to be escaped, too.
 */
function sentinel(): string {
  return `\uE000"${crypto.getRandomValues(new Uint32Array(2)).join("")}"\uE001`;
}

/** Whether the answer to a conversation continues its last message. */
export function continuesFinalMessage(
  { messages, continueFinalMessage }: Pick<ChatRequest, "messages" | "continueFinalMessage">,
): boolean {
  const last = messages.at(-1);
  return continueFinalMessage ?? (last?.role === "assistant" && !last.toolCalls?.length);
}

/** The whole text of a prompt. */
export function promptText({ head, begun }: RenderedPrompt): Text {
  return addText(head, taint(begun));
}

/**
 * The prompt of messages, the last of which the answer continues. Errors: those of the rendering,
 * and RequestError if it cannot be continued.
 *
 * @param marks of the model's thinking; undefined if it does not think
 */
export function renderContinued(
  render: Render,
  messages: readonly ChatMessage[],
  marks: ThinkingMarks | undefined,
): RenderedPrompt {
  const before = messages.slice(0, -1);
  const last = messages.at(-1);
  if (!last) throw cannotContinue("there is none");
  if (last.toolCalls?.length) throw cannotContinue("it ends with tool calls");
  const { content, thinking = "" } = last;
  // An answer of which nothing is there yet is a new one.
  if (content === "" && thinking === "") return { head: render(before), begun: "" };
  const sentinels = { content: CONTENT, ...(thinking && { thinking: THINKING }) };
  const shown = render([...before, { ...last, ...sentinels }], { opens: false });
  const thought = divide(shown, THINKING);
  if (content === "") {
    return { head: thought?.[0] ?? beginThinking(render(before), marks), begun: thinking };
  }
  const head = divide(shown, CONTENT)?.[0];
  if (head === undefined) {
    throw cannotContinue("the chat template leaves its text out, or changes it");
  }
  if (thinking === "") return { head: endThinking(head, marks), begun: content };
  const between = thought && divide(thought[1], CONTENT)?.[0];
  if (between !== undefined) {
    return { head: joinTexts([thought![0], taint(thinking), between]), begun: content };
  }
  const opened = render(before);
  // Many templates leave thinking out of what was said.
  if (!marks || endsThinking(plain(opened), marks)) return { head, begun: content };
  const begun = addText(beginThinking(opened, marks), taint(thinking));
  return { head: addText(begun, leadOf(marks)), begun: content };
}

/** The texts before and after a sentinel; undefined if it is not in the text. */
function divide(text: Text, sentinel: string): [before: Text, after: Text] | undefined {
  const at = plain(text).lastIndexOf(sentinel);
  return at < 0 ? undefined : [cutText(text, 0, at), cutText(text, at + sentinel.length)];
}

/** A prompt for a new answer, up to the text of its thinking. */
function beginThinking(prompt: Text, marks: ThinkingMarks | undefined): Text {
  if (!marks) throw cannotContinue("the chat template leaves its thinking out");
  if (endsThinking(plain(prompt), marks)) {
    throw cannotContinue("it is thinking, which the request turns off");
  }
  if (beginsThinking(plain(prompt), marks)) return prompt;
  return addText(prompt, marks.open + (marks.open.endsWith("\n") ? "" : "\n"));
}

/** A prompt up to the text of an answer, whose thinking is ended if the template has begun it. */
function endThinking(prompt: Text, marks: ThinkingMarks | undefined): Text {
  return marks && beginsThinking(plain(prompt), marks) ? addText(prompt, leadOf(marks)) : prompt;
}

/** The text between thinking and the text of an answer. */
function leadOf({ close, lead = `\n${close}\n\n` }: ThinkingMarks): string {
  return lead;
}

function cannotContinue(reason: string): RequestError {
  return new RequestError(`Cannot continue the last message: ${reason}`);
}
