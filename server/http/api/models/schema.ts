// JSON Schemas of the native request bodies about keeping models. They fix types only; null is "not
// given", and members without an entry here are ignored.

import { type BodyOf, flag, text, values } from "../../body/schema.ts";
import { options } from "../options.ts";

const digests = {
  type: ["object", "null"],
  additionalProperties: { type: "string" },
  description: "Digests of uploaded blobs by file name.",
} as const;

const name = {
  model: text,
  name: { ...text, description: "The older word for `model`." },
} as const;

/** Body of POST /api/show. */
export const showSchema = {
  type: "object",
  properties: { ...name, verbose: flag, system: text, options },
} as const;

export type ShowBody = BodyOf<typeof showSchema>;

/** Body of POST /api/create. */
export const createSchema = {
  type: "object",
  properties: {
    ...name,
    from: text,
    files: digests,
    adapters: digests,
    draft: { ...text, description: "Name of the model's draft model." },
    draft_files: digests,
    quantize: text,
    quantization: { ...text, description: "The older word for `quantize`." },
    template: text,
    system: text,
    parameters: values,
    messages: {
      type: ["array", "null"],
      items: {
        type: "object",
        required: ["role"],
        properties: { role: { enum: ["system", "user", "assistant"] }, content: text },
      },
    },
    license: { type: ["string", "array", "null"], items: { type: "string" } },
    requires: text,
    renderer: text,
    parser: text,
    info: values,
    remote_host: { ...text, description: "Server that has the model `from`." },
    stream: flag,
  },
} as const;

export type CreateBody = BodyOf<typeof createSchema>;

/** Body of POST /api/tokenize. */
export const tokenizeSchema = {
  type: "object",
  properties: { ...name, text: { ...text, description: "What is split." } },
} as const;

/** Body of POST /api/plan. */
export const planSchema = { type: "object", properties: { ...name, options } } as const;

/** Body of POST /api/copy. */
export const copySchema = {
  type: "object",
  properties: { source: text, destination: text },
} as const;

/** Body of DELETE /api/delete. */
export const deleteSchema = { type: "object", properties: name } as const;

/** Body of POST /api/pull and /api/push. */
export const transferSchema = {
  type: "object",
  properties: { ...name, insecure: flag, stream: flag },
} as const;
