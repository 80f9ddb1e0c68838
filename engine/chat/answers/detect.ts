// Which format the models of a chat template answer in, told by the marks in the template's source.

import { createAnswerFormat } from "./answer_format.ts";
import { ANSWER_FAMILIES } from "./families/mod.ts";
import type { AnswerFamily, AnswerFormat, ThinkingMarks } from "./types.ts";

/** Marks around thinking that models of many families write. */
const THINKING: readonly ThinkingMarks[] = [
  { open: "<think>", close: "</think>" },
  { open: "[THINK]", close: "[/THINK]" },
  { open: "<reasoning>", close: "</reasoning>" },
  { open: "<thought>", close: "</thought>" },
];

/** The format of models without a template, or whose template tells nothing: all is text. */
export const PLAIN_ANSWERS: AnswerFormat = createAnswerFormat({ name: "plain" });

/**
 * How the models of a chat template answer.
 *
 * @param template Jinja source; undefined where a model has none
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
  // Some templates hold one of the marks only: they begin thinking, or take it out of old answers.
  return known ??
    THINKING.find(({ open, close }) => [open, close].some((mark) => template.includes(mark)));
}
