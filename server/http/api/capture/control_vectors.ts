// /api/control_vectors: the vectors of this machine. Ours: llama-server takes them at its start alone.

import { Hono } from "../../../dependencies.ts";
import {
  type ControlVectorMethod,
  makeControlVector,
  type StoredControlVector,
  type TextPair,
} from "../../../../engine/mod.ts";
import type { AppDependencies, AppEnvironment } from "../../app_types.ts";
import { readJson } from "../../body/json_body.ts";
import { type BodyOf, closed, keepAlive, list, text } from "../../body/schema.ts";
import { createValidator } from "../../body/validate.ts";
import { HttpError } from "../../errors.ts";
import { withModel } from "../../generation/lease.ts";
import { json } from "../../stream/json.ts";
import { translateRequest } from "../handler.ts";
import { native } from "../ollama/operations.ts";
import { count, list as listOf, record, text as textOf } from "../openapi/answer_parts.ts";
import { named, type Operation, whole } from "../openapi/operation.ts";
import { options, readOptions } from "../options.ts";
import { streamOfOne } from "../unread_members.ts";

const name = { type: "string", description: "Name of the vector." } as const;

/** Body of POST /api/control_vectors. */
const createSchema = closed({
  stream: streamOfOne,
  name,
  model: text,
  pairs: {
    ...list(closed(
      {
        positive: { type: "string", description: "A text as answers should be." },
        negative: { type: "string", description: "The same as they should not be." },
      },
      "positive",
      "negative",
    )),
    description: "Pairs of texts, whose last tokens are compared.",
  },
  method: {
    enum: [null, "mean", "pca"],
    description: "The mean of the differences (default), or their first principal component.",
  },
  options,
  keep_alive: keepAlive,
}, "name");

const deleteSchema = closed({ stream: streamOfOne, name }, "name");

/** A vector. */
const vectorSchema = record({
  name: textOf,
  architecture: { ...textOf, description: "Architecture of the model that it was made of." },
  layers: { ...listOf(count), description: "The layers that it has a direction for." },
  width: { ...count, description: "Numbers in a direction." },
  modified_at: { ...textOf, description: "When it was made." },
});

const listSchema = record({
  control_vectors: { ...listOf(vectorSchema), description: "The vectors, by name." },
});

const example = {
  name: "terse",
  architecture: "llama",
  layers: [1, 2, 3],
  width: 256,
  modified_at: "2026-11-29T12:00:00.000Z",
};

/** The operations of control vectors. */
export const controlVectorOperations: Operation[] = [
  native({
    id: "listControlVectors",
    method: "get",
    path: "/api/control_vectors",
    summary: "List the control vectors.",
    answers: whole("ControlVectorList", listSchema, { control_vectors: [example] }),
  }),
  native({
    id: "createControlVector",
    method: "post",
    path: "/api/control_vectors",
    summary: "Make a control vector of pairs of texts.",
    body: named("ControlVectorRequest", createSchema, {
      name: "terse",
      model: "quern:tiny",
      pairs: [{ positive: "Briefly:", negative: "At great length:" }],
    }),
    answers: whole("ControlVector", vectorSchema, example),
    failures: ["model", "busy", "disk", "remote"],
  }),
  native({
    id: "deleteControlVector",
    method: "delete",
    path: "/api/control_vectors",
    summary: "Remove a control vector.",
    body: named("ControlVectorDeletion", deleteSchema, { name: "terse" }),
    answers: {},
    failures: ["disk"],
  }),
];

const validateCreate = createValidator(createSchema);
const validateDelete = createValidator(deleteSchema);

/** Most pairs of a request, each of which runs two prompts. */
const MOST_PAIRS = 4096;

/** Routes that list, make and remove control vectors. */
export function controlVectorRoutes(dependencies: AppDependencies): Hono<AppEnvironment> {
  const { controlVectors } = dependencies.store;
  const app = new Hono<AppEnvironment>();

  app.get("/api/control_vectors", async () => {
    const all = await controlVectors.list();
    return json<BodyOf<typeof listSchema>>({ control_vectors: all.map(described) });
  });

  app.post("/api/control_vectors", async (context) => {
    const { signal } = context.req.raw;
    const checked = await validateCreate.check(await readJson(context));
    const { model, translation } = await translateRequest(
      context,
      dependencies,
      checked,
      translate,
    );
    const { name, pairs, method, loading } = translation;
    controlVectors.check(name);
    const vector = await withModel(
      dependencies,
      model,
      { ...loading, signal },
      (loaded) =>
        makeControlVector(
          { info: loaded.info, run: (request) => loaded.run({ ...request, signal }) },
          pairs,
          method,
        ),
    );
    return json<BodyOf<typeof vectorSchema>>(described(await controlVectors.write(name, vector)));
  });

  app.delete("/api/control_vectors", async (context) => {
    const { name } = await validateDelete(await readJson(context));
    await controlVectors.remove(name);
    return new Response(null);
  });
  return app;
}

function translate(body: BodyOf<typeof createSchema>) {
  const { pairs, method } = body;
  if (!pairs?.length) throw new HttpError(400, "pairs: there are none", "pairs");
  if (pairs.length > MOST_PAIRS) {
    throw new HttpError(400, `pairs: ${pairs.length}, at most ${MOST_PAIRS} are possible`, "pairs");
  }
  return {
    name: body.name,
    pairs: pairs.map(({ positive, negative }): TextPair => [positive, negative]),
    method: (method ?? "mean") as ControlVectorMethod,
    loading: readOptions(body.options, body.keep_alive).loading,
  };
}

function described({ name, architecture, directions, modified }: StoredControlVector) {
  const [first] = directions.values();
  return {
    name,
    architecture,
    layers: [...directions.keys()].sort((a, b) => a - b),
    width: first?.length ?? 0,
    modified_at: modified.toISOString(),
  };
}
