// JSON Schemas of the native request bodies about keeping models. They fix types only; null is "not
// given".

import { type BodyOf, closed, flag, list, number, only, text, values } from "../../body/schema.ts";
import { options } from "../options.ts";
import { streamOfOne } from "../unread_members.ts";

const digests = {
  type: ["object", "null"],
  additionalProperties: { type: "string" },
  description: "Digests of uploaded blobs by file name.",
} as const;

const name = {
  stream: streamOfOne,
  model: text,
  name: { ...text, description: "The older word for `model`." },
} as const;

/** Body of POST /api/show. */
export const showSchema = closed({ ...name, verbose: flag, system: text, options });

export type ShowBody = BodyOf<typeof showSchema>;

/** Body of POST /api/create. */
export const createSchema = closed({
  ...name,
  from: text,
  files: digests,
  adapters: digests,
  control_vectors: {
    ...list(closed({
      name: {
        type: "string",
        description: "One of /api/control_vectors, or with a digest the name of a file.",
      },
      digest: { ...text, description: "Digest of the file's blob." },
      scale: { ...number, description: "Factor; negative ones steer the other way. Default 1." },
    }, "name")),
    description:
      "Control vectors of answers whose request names none. Default: those of `from`; an empty list " +
      "is none.",
  },
  draft: { ...text, description: "Name of the model's draft model." },
  draft_files: digests,
  quantize: text,
  quantization: { ...text, description: "The older word for `quantize`." },
  template: text,
  system: text,
  parameters: values,
  messages: list(
    closed({ role: { enum: ["system", "user", "assistant"] }, content: text }, "role"),
  ),
  license: { type: ["string", "array", "null"], items: { type: "string" } },
  requires: text,
  renderer: text,
  parser: text,
  info: values,
  remote_host: { ...text, description: "Server that has the model `from`." },
  modelfile: only([], "send its instructions as members, as `quern create` does"),
  path: only([], "upload the files as blobs and name them in files"),
  stream: flag,
});

export type CreateBody = BodyOf<typeof createSchema>;

/** Body of POST /api/tokenize. */
export const tokenizeSchema = closed({
  ...name,
  text: { ...text, description: "What is split." },
});

/** Body of POST /api/plan. */
export const planSchema = closed({ ...name, options });

/** Body of POST /api/copy. */
export const copySchema = closed({ source: text, destination: text });

/** Body of DELETE /api/delete. */
export const deleteSchema = closed(name);

/** Body of POST /api/pull and /api/push. */
export const transferSchema = closed({
  ...name,
  insecure: flag,
  username: only([], "name a registry that takes the server's own key"),
  password: only([], "name a registry that takes the server's own key"),
  stream: flag,
});
