// POST /v1/responses and /v1/responses/input_tokens, and the routes of kept responses: GET and DELETE
// of one, and GET of its input items.

import { type Context, Hono } from "../../../../dependencies.ts";
import type { AppDependencies, AppEnvironment } from "../../../app_types.ts";
import { HttpError } from "../../../errors.ts";
import { readJson } from "../../../body/json_body.ts";
import { KeptResponses } from "./kept_responses.ts";
import { ResponseStore } from "../../../response_store.ts";
import { sseResponse } from "../../../stream/stream.ts";
import { countTokens } from "../../count.ts";
import { answer, type ChoiceEvent, type Endpoint } from "../../handler.ts";
import { refusal, withParam } from "../errors.ts";
import { openAiResponsesSchema, type ResponsesBody } from "../schema.ts";
import { createValidator } from "../../../body/validate.ts";
import type { DeletedResponse, InputItems, InputTokens, WholeResponse } from "./answer_schema.ts";
import { translateResponse } from "./body.ts";
import { toCompacted } from "./compaction.ts";
import { withoutOtherTools } from "./tools.ts";
import { ResponsesEncoder, type ResponsesRecord } from "./events.ts";
import { toItemList, toKeptItems } from "./kept_items.ts";
import { json } from "../../../stream/json.ts";

const validate = createValidator(openAiResponsesSchema);

/** The item that asks for a compaction. */
const TRIGGER = { type: "compaction_trigger" };

/** Routes of OpenAI's responses. */
export function responseRoutes(dependencies: AppDependencies): Hono<AppEnvironment> {
  const app = new Hono<AppEnvironment>();
  const keptFor = KeptResponses.of(dependencies);

  /** A checked body, and what was left out of it. */
  const read = async (context: Context<AppEnvironment>) => {
    const { body, warnings } = withoutOtherTools(await readJson(context));
    return { ...await validate.check(body), skipped: warnings };
  };

  app.post("/v1/responses", async (context) => {
    const { body, unknown, skipped } = await read(context);
    const kept = keptFor(context);
    const earlier = await kept.earlier(body);
    const input = await kept.resolved(body.input);
    const isKept = dependencies.responses !== undefined && body.store !== false;
    const endpoint: Endpoint<ResponsesBody, ResponsesRecord, ResponsesEncoder> = {
      validate,
      translate(body, info) {
        const { request, ...around } = translateResponse(body, earlier, info, skipped);
        return { ...around, tasks: [{ kind: "chat", request }] };
      },
      encoder: (head, body) => new ResponsesEncoder(head, body),
      stream: sseResponse,
      failure: withParam,
      newId: ResponseStore.newId,
      async finish(id, encoder) {
        const response = encoder.whole();
        if (!response) return;
        const own = toKeptItems(input, id, earlier);
        const failure = await kept.append(body, [...own, ...response.output]);
        if (failure) {
          response.conversation = null;
          response.warnings = [...response.warnings ?? [], failure];
        }
        // The response says itself whether it was kept.
        if (isKept) response.store = await kept.keep(id, response, [...earlier, ...own]);
      },
    };
    const asked: ResponsesBody = { ...body, input, store: isKept };
    return await answer(context, dependencies, { body: asked, unknown }, endpoint);
  });

  app.post("/v1/responses/compact", async (context) => {
    const started = performance.now();
    const { body, unknown, skipped } = await read(context);
    if (body.stream) throw refusal("stream: a compaction comes as a whole; leave it out", "stream");
    const kept = keptFor(context);
    const earlier = await kept.earlier(body);
    const said = await kept.resolved(body.input);
    const own = typeof said === "string" ? [{ role: "user", content: said }] : said ?? [];
    const input = [...own.filter(({ type }) => type !== TRIGGER.type), TRIGGER];
    const endpoint: Endpoint<ResponsesBody, ResponsesRecord> = {
      validate,
      translate(body, info) {
        const { request, ...around } = translateResponse(body, earlier, info, skipped);
        return { ...around, tasks: [{ kind: "chat", request }] };
      },
      encoder(head, body) {
        const inner = new ResponsesEncoder(head, body);
        return Object.assign(Object.create(inner), {
          add: (event: ChoiceEvent) => inner.add(event),
          fail: (error: unknown) => inner.fail(error),
          whole: () => toCompacted(inner.whole()!, [...earlier, ...own]),
        });
      },
      stream: sseResponse,
      failure: withParam,
      newId: ResponseStore.newId,
    };
    const asked: ResponsesBody = { ...body, input, store: false };
    return await answer(context, dependencies, { body: asked, unknown }, endpoint, started);
  });

  app.post("/v1/responses/input_tokens", async (context) => {
    const { body, unknown } = await read(context);
    const kept = keptFor(context);
    const earlier = await kept.earlier(body);
    const asked: ResponsesBody = { ...body, input: await kept.resolved(body.input) };
    const tokens = await countTokens(context, dependencies, { body: asked, unknown }, {
      translate: (body, info) => translateResponse(body, earlier, info),
    });
    return json<InputTokens>({ object: "response.input_tokens", input_tokens: tokens });
  });

  app.get("/v1/responses/:response_id", async (context) => {
    const { response } = await keptFor(context).find(context.req.param("response_id"));
    if (/^(?:true|1)$/i.test(context.req.query("stream") ?? "")) {
      throw new HttpError(
        400,
        "stream: only an answer that is being made can be streamed; leave it out",
        "stream",
      );
    }
    return json<WholeResponse>(response);
  });

  app.delete("/v1/responses/:response_id", async (context) => {
    const id = context.req.param("response_id");
    await keptFor(context).delete(id);
    return json<DeletedResponse>({ id, object: "response", deleted: true });
  });

  app.get("/v1/responses/:response_id/input_items", async (context) => {
    const { input } = await keptFor(context).find(context.req.param("response_id"));
    return json<InputItems>(toItemList(input, context.req.query()));
  });
  return app;
}
