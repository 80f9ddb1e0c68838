// POST /v1/responses, /v1/responses/compact and /v1/responses/input_tokens, and the routes of responses
// that are kept, or made in the background: GET and DELETE of one, its end before its time, and GET of
// its input items.

import { type Context, Hono } from "../../../../dependencies.ts";
import type { AppDependencies, AppEnvironment } from "../../../app_types.ts";
import { readJson } from "../../../body/json_body.ts";
import { isUnderWay, KeptResponses } from "./kept_responses.ts";
import { ResponseStore } from "../../../response_store.ts";
import type { EventLog, LogPosition } from "../../../stream/event_log.ts";
import { replay } from "../../../stream/resumable.ts";
import { EVENT_STREAM, sseResponse } from "../../../stream/stream.ts";
import { countTokens } from "../../count.ts";
import { answer, type ChoiceEvent, type Endpoint } from "../../handler.ts";
import { logName } from "../../lasting.ts";
import { refusal, withParam } from "../errors.ts";
import { openAiResponsesSchema, type ResponsesBody } from "../schema.ts";
import { createValidator } from "../../../body/validate.ts";
import type { DeletedResponse, InputItems, InputTokens, WholeResponse } from "./answer_schema.ts";
import { translateResponse } from "./body.ts";
import { toCompacted } from "./compaction.ts";
import { withoutOtherTools } from "./tools.ts";
import { ResponsesEncoder, type ResponsesRecord } from "./events.ts";
import { toItemList, toKeptItems, toResponseId } from "./kept_items.ts";
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
      background: (body, id) => body.background ? logOf(context, toResponseId(id)) : undefined,
      async finish(id, encoder) {
        const response = encoder.state();
        const own = toKeptItems(input, id, earlier);
        const isAnswered = response.status === "completed" || response.status === "incomplete";
        const failure = isAnswered && await kept.append(body, [...own, ...response.output]);
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
    for (const member of ["stream", "background"] as const) {
      if (!body[member]) continue;
      throw refusal(`${member}: a compaction is waited for as a whole; leave it out`, member);
    }
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
    const id = context.req.param("response_id");
    const { stream = "", starting_after: after } = context.req.query();
    const log = dependencies.logs.find(logOf(context, id));
    if (/^(?:true|1)$/i.test(stream)) {
      if (log) return replay(log, positionOf(after), new Headers(EVENT_STREAM));
      await keptFor(context).find(id);
      throw refusal(
        `stream: no events are kept of response '${id}': only those of answers with ` +
          '"background": true are, until some minutes after their end; ask for it as a whole',
        "stream",
      );
    }
    if (log) return json<WholeResponse>(await stateOf(log));
    return json<WholeResponse>(asEnded((await keptFor(context).find(id)).response));
  });

  app.post("/v1/responses/:response_id/cancel", async (context) => {
    const id = context.req.param("response_id");
    const log = dependencies.logs.find(logOf(context, id));
    log?.cancel();
    await log?.whenEnded();
    const response = log ? await stateOf(log) : asEnded((await keptFor(context).find(id)).response);
    if (!response.background) {
      throw refusal(
        `response '${id}' cannot be cancelled: only those with "background": true can; ` +
          "close the connection of its request instead",
        "response_id",
      );
    }
    return json<WholeResponse>(response);
  });

  app.delete("/v1/responses/:response_id", async (context) => {
    const id = context.req.param("response_id");
    const log = dependencies.logs.find(logOf(context, id));
    log?.cancel();
    await log?.whenEnded();
    const wasMade = dependencies.logs.remove(logOf(context, id));
    await keptFor(context).delete(id).catch((error) => {
      if (!wasMade) throw error;
    });
    return json<DeletedResponse>({ id, object: "response", deleted: true });
  });

  app.get("/v1/responses/:response_id/input_items", async (context) => {
    const { input } = await keptFor(context).find(context.req.param("response_id"));
    return json<InputItems>(toItemList(input, context.req.query()));
  });
  return app;
}

/** The name of the log of a response. */
function logOf(context: Context<AppEnvironment>, wireId: string): string {
  return logName(context, "response", wireId);
}

/** The response that is made in the background, as far as it exists. */
async function stateOf(log: EventLog): Promise<WholeResponse> {
  const response = log.state() as WholeResponse;
  // Whoever reads of its end finds it kept, and its conversation with what it said.
  if (!isUnderWay(response)) await log.whenEnded();
  return response;
}

/** The position after an event, by its sequence number. Errors: HttpError 400 for what is no number. */
function positionOf(after: string | undefined): LogPosition {
  if (after === undefined || after === "") return { from: 0 };
  if (/^\d{1,15}$/.test(after)) return { after: Number(after), member: "starting_after" };
  throw refusal(
    "starting_after is no sequence number: give that of the last event that has come",
    "starting_after",
  );
}

/** A kept response, which has failed if its server did not get to its end. */
function asEnded(response: WholeResponse): WholeResponse {
  if (!isUnderWay(response)) return response;
  const message = "the server that made the answer was stopped before it was complete: ask again";
  return { ...response, status: "failed", error: { code: "server_error", message } };
}
