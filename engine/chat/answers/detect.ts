// Detects the format in which a model answers by marks in the source of its chat template.

import { createAnswerFormat } from "./answer_format.ts";
import { ANSWER_FAMILIES } from "./families/mod.ts";
import type { AnswerFamily, AnswerFormat, ThinkingMarks } from "./types.ts";

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
