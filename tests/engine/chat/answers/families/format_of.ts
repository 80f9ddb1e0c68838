// The format of a family's answers without a template, for tests.

import { createAnswerFormat } from "../../../../../engine/chat/answers/answer_format.ts";
import type { AnswerFamily, AnswerFormat } from "../../../../../engine/chat/answers/types.ts";

/** The format of a family. */
export function formatOf({ name, calls, text, thinking, format }: AnswerFamily): AnswerFormat {
  if (format) return format;
  const marks = typeof thinking === "object" ? thinking : undefined;
  return createAnswerFormat({
    name,
    ...calls && { calls },
    ...text && { text },
    ...marks && { thinking: marks },
  });
}
