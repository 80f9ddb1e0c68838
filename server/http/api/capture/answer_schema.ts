// JSON Schema of what POST /api/capture answers, unless a file was asked for, and the type that follows.

import type { BodyOf } from "../../body/schema.ts";
import { count, list, record, text } from "../openapi/answer_parts.ts";

/** Answer of POST /api/capture. */
export const captureAnswerSchema = record({
  model: text,
  results: described(
    "What each prompt gave, in order.",
    list(record({
      tokens: list(count),
      points: described(
        "The points, in the order in which they were named.",
        list(record({
          point: { ...text, description: "A point, such as `residual.post[3]`." },
          dtype: { const: "F32" },
          shape: list(count),
          positions: described("The positions of the prompt.", list(count)),
          data: { ...text, description: "The values row by row, f32, little-endian, in base64." },
        })),
      ),
    })),
  ),
});

function described<const Schema extends object>(description: string, schema: Schema) {
  return { ...schema, description };
}

export type CaptureAnswer = BodyOf<typeof captureAnswerSchema>;
