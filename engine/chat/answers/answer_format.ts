// The answer format of a model: found by marks in its chat template, and made from the parts that
// families share (marks, calls and thinking): one parser and one grammar for whole answers.

import {
  choice,
  type Grammar,
  json,
  literal,
  optional,
  repeat,
  sequence,
  textWithout,
} from "../../grammar/mod.ts";
import { beginsThinking, createAnswerParser, endsThinking } from "./answer_parser.ts";
import { HERMES } from "./families/json_calls.ts";
import { ANSWER_FAMILIES } from "./families/mod.ts";
import type {
  AnswerFamily,
  AnswerFormat,
  AnswerRequest,
  CallableTool,
  CallSyntax,
  ThinkingMarks,
} from "./types.ts";

/** The parts of a format. */
export interface AnswerParts extends Pick<AnswerFamily, "name" | "calls" | "text"> {
  readonly thinking?: ThinkingMarks | undefined;
}

/** Line breaks and spaces that models write after thinking and between text and calls. */
const GLUE = repeat({ type: "characters", ranges: [[0x0a, 0x0a], [0x20, 0x20]] }, 0, 2);

/** The format of answers with these parts. */
export function createAnswerFormat({ name, thinking, calls, text }: AnswerParts): AnswerFormat {
  const marks = { thinking, calls, text: [...text?.open ?? [], ...text?.close ?? []] };
  const generic = { name: "generic", thinking, calls: HERMES.calls!, ...text && { text } };
  return {
    name,
    ...thinking && { thinking },
    ...calls ? { calls } : { withTools: createAnswerFormat(generic) },
    parser: (options) => createAnswerParser(marks, options),
    grammar(request) {
      const answer = answerGrammar(request, calls, text);
      return answer && { root: sequence(...thinkingGrammar(request.prompt, thinking), answer) };
    },
  };
}

/** The thinking that may, or must, come before the answer. */
function thinkingGrammar(prompt: string, thinking: ThinkingMarks | undefined): Grammar[] {
  if (!thinking || endsThinking(prompt, thinking)) return [];
  const { open, close } = thinking;
  const thought = sequence(textWithout(close), literal(close), GLUE);
  return [beginsThinking(prompt, thinking) ? thought : optional(sequence(literal(open), thought))];
}

/** The grammar after thinking; undefined if anything is allowed. */
function answerGrammar(
  request: AnswerRequest,
  syntax: CallSyntax | undefined,
  marks: AnswerParts["text"],
): Grammar | undefined {
  const { tools, choice: wanted, parallel, schema } = request;
  const calls = wanted === "none" || tools.length === 0
    ? undefined
    : syntax?.grammar(tools.map(withObject), { parallel });
  if (calls && wanted === "required") return calls;
  if (schema !== undefined) {
    const document = marked(json(schema), marks);
    return calls ? choice(calls, document) : document;
  }
  if (!calls) return undefined;
  const openings = syntax?.beginnings?.(tools) ?? syntax?.openings ?? [];
  const text = marked(textWithout(...openings), marks);
  return sequence(text, repeat(sequence(calls, text), 0, parallel ? Infinity : 1));
}

/** Arguments are an object, even if the tool's schema does not say so. */
function withObject({ name, parameters }: CallableTool): CallableTool {
  const schema = typeof parameters === "object" ? parameters : {};
  return { name, parameters: { ...schema, type: "object" } };
}

/** A text, with or without its marks. */
function marked(text: Grammar, marks: AnswerParts["text"]): Grammar {
  const { open = [], close = [] } = marks ?? {};
  const [first, last] = [open, close].map((options) =>
    options.length === 0 ? [] : [optional(choice(...options.map(literal)))]
  );
  return sequence(...first!, text, ...last!);
}

/** Marks of thinking in many families. */
const THINKING: readonly ThinkingMarks[] = [
  { open: "<think>", close: "</think>" },
  { open: "[THINK]", close: "[/THINK]" },
  { open: "<reasoning>", close: "</reasoning>" },
  { open: "<thought>", close: "</thought>" },
];

/** The format of models without a template, or with an unknown one: everything is text. */
export const PLAIN_ANSWERS: AnswerFormat = createAnswerFormat({ name: "plain" });

/**
 * The answer format for a chat template.
 *
 * @param template Jinja source; undefined if a model has none
 */
export function detectAnswerFormat(template: string | undefined): AnswerFormat {
  if (template === undefined) return PLAIN_ANSWERS;
  const family = ANSWER_FAMILIES.find((one) => one.recognises(template));
  if (family?.format) return family.format;
  const thinking = thinkingOf(family, template);
  if (!family && !thinking) return PLAIN_ANSWERS;
  const { name, calls, text } = family ?? { name: "plain" } as AnswerFamily;
  return createAnswerFormat({ name, thinking, ...calls && { calls }, ...text && { text } });
}

function thinkingOf(
  family: AnswerFamily | undefined,
  template: string,
): ThinkingMarks | undefined {
  const known = family?.thinking;
  if (typeof known === "function") return known(template);
  // Some templates contain only one of the marks: they begin thinking, or remove it from earlier
  // answers.
  return known ??
    THINKING.find(({ open, close }) => [open, close].some((mark) => template.includes(mark)));
}
