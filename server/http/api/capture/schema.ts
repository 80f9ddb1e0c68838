// JSON Schema of the body of POST /api/capture. It fixes types only.

import { type BodyOf, closed, keepAlive, list, number, text, texts } from "../../body/schema.ts";
import { options } from "../options.ts";
import { streamOfOne } from "../unread_members.ts";

const positions = {
  anyOf: [{ type: "null" }, { enum: ["all", "last"] }, {
    type: "array",
    items: { type: "integer" },
  }],
  description:
    'Positions: "all" (default), "last" of the prompt, or a list; negative ones from its end.',
} as const;
const integers = { type: ["array", "null"], items: { type: "integer" } } as const;
const numbers = { type: ["array", "null"], items: { type: "number" } } as const;

/** A prompt: text, or token ids. */
const prompt = {
  anyOf: [{ type: "string" }, { type: "array", items: { type: "integer" } }],
} as const;

/** Body of POST /api/capture. */
export const captureSchema = closed({
  stream: streamOfOne,
  model: text,
  prompt: { anyOf: [{ type: "null" }, ...prompt.anyOf], description: "A text, or token ids." },
  prompts: { ...list(prompt), description: "Several prompts, in place of `prompt`." },
  points: {
    ...texts,
    description: "Such as `residual.post[3]`, `attention.pattern[*]`, `logits`.",
  },
  positions,
  pooling: {
    enum: [null, "none", "mean", "last"],
    description: "Gives one row of each point: the mean of its positions, or the last.",
  },
  changes: {
    ...list(closed({
      point: { type: "string", description: "Points to change, as in `points`." },
      positions,
      heads: { ...integers, description: "Of `attention.z`. Default: all." },
      replace: {
        ...numbers,
        description: "Values instead: for all positions, or for each of a list.",
      },
      scale: { ...number, description: "Factor of the values." },
      add: { ...numbers, description: "Values to add, as in `replace`." },
    }, "point")),
    description: "Changes of what the model computes, in order.",
  },
  format: {
    enum: [null, "json", "npz", "safetensors"],
    description: "One JSON object with base64, or one file. Default: json.",
  },
  options,
  keep_alive: keepAlive,
});

export type CaptureBody = BodyOf<typeof captureSchema>;
