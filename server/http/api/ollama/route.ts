// POST /api/chat and /api/generate. They differ in their schema, in how the body is translated, and in
// where the text stands.

import { Hono } from "../../../dependencies.ts";
import type { ChatModel, ModelInfo } from "../../../../engine/mod.ts";
import type { AppDependencies, AppEnvironment } from "../../app_types.ts";
import { createValidator, type Validator } from "../../body/validate.ts";
import { loadOrUnload, withModel } from "../../generation/lease.ts";
import { json } from "../../stream/json.ts";
import { ndjsonResponse } from "../../stream/stream.ts";
import { type Endpoint, generationRoute, type Task, type Translation } from "../handler.ts";
import type { OllamaError, OllamaRecord } from "./answer_schema.ts";
import { translateChat, translateGenerate } from "./body.ts";
import {
  chatText,
  finalRecord,
  generateText,
  OllamaEncoder,
  renderedRecord,
  type TextForm,
} from "./events.ts";
import { chatSchema, generateSchema, type OllamaRequest } from "./schema.ts";

/** Routes that run models through the native API. */
export function ollamaRoutes(dependencies: AppDependencies): Hono<AppEnvironment> {
  const app = new Hono<AppEnvironment>();
  const chat = endpoint(dependencies, createValidator(chatSchema), translateChat, chatText);
  const generate = endpoint(
    dependencies,
    createValidator(generateSchema),
    translateGenerate,
    generateText,
  );
  app.post("/api/chat", generationRoute(dependencies, chat));
  app.post("/api/generate", generationRoute(dependencies, generate));
  return app;
}

function endpoint<Body extends OllamaRequest>(
  dependencies: AppDependencies,
  validate: Validator<Body>,
  translate: (body: Body, info: ModelInfo) => Translation,
  text: TextForm,
): Endpoint<Body, OllamaRecord | OllamaError> {
  return {
    validate,
    translate,
    encoder: (head) => new OllamaEncoder(head, text),
    stream: ndjsonResponse,
    streams: true,
    instead(body, { model, translation: { tasks, ...loading } }, signal) {
      const [task] = tasks;
      const acquire = { ...loading, signal };
      if (!task) {
        return loadOrUnload(dependencies, model, acquire).then((reason) =>
          json<OllamaRecord>(finalRecord(model, new Date(), text(""), reason))
        );
      }
      if (!body._debug_render_only) return undefined;
      return withModel(dependencies, model, acquire, async (loaded) => {
        const rendered = await renderTask(loaded, task);
        const record = renderedRecord(model, new Date(), text(""), rendered, imagesIn(task));
        return json<OllamaRecord>(record);
      });
    },
  };
}

/** The text of the prompt of a task. Rendering it needs the loaded model. */
async function renderTask(model: ChatModel, task: Task): Promise<string> {
  // Prompts of this API are texts.
  return task.kind === "chat" ? await model.renderChat(task.request) : String(task.request.prompt);
}

function imagesIn({ request }: Task): number {
  const shown = "messages" in request ? request.messages : [request];
  return shown.reduce((sum, { images = [] }) => sum + images.length, 0);
}
