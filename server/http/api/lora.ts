// The option lora of requests: the adapters of an answer, as llama-server and vLLM's clients name them.

import type { LoraChoice } from "../../../engine/mod.ts";
import { type BodyOf, closed, type Given, list, number } from "../body/schema.ts";
import { HttpError } from "../errors.ts";

/** An adapter in a request. */
export const loraSchema = closed({
  id: {
    type: ["integer", "string", "null"],
    description: "Its number or name, as GET /lora-adapters lists them.",
  },
  name: { type: ["string", "null"], description: "Its name, instead of id." },
  scale: { ...number, description: "Factor, from -100 to 100. Default 1." },
});

/** The member of requests. */
export const loraMembers = {
  lora: {
    ...list(loraSchema),
    description: "LoRA adapters of this answer, and no others. Default: the model's own.",
  },
} as const;

/** Adapters that a body names. */
export type LoraBody = readonly BodyOf<typeof loraSchema>[];

/**
 * The adapters that a body names; undefined if it names none at all.
 *
 * @throws {HttpError} 400 for one that has not one of id and name
 */
export function readLora(body: Given<LoraBody>, member = "lora"): LoraChoice[] | undefined {
  return body?.map(({ id, name, scale }, index) => {
    const param = `${member}[${index}]`;
    if (id != null && name != null) {
      throw new HttpError(400, `${param}: id and name exclude each other`, param);
    }
    const own = id ?? name;
    if (own == null) throw new HttpError(400, `${param}.id is required`, `${param}.id`);
    return { id: own, ...(scale != null && { scale }) };
  });
}
