// The streams of answers whose requests named their conversation (x-conversation-id): GET /v1/stream
// gives what a client has not got, DELETE ends the answer, and POST /v1/streams/lookup tells which there
// are. Such streams come from every route that streams. Format: llama-server's tools/server/README-dev.md

import { Hono } from "../../../dependencies.ts";
import type { AppDependencies, AppEnvironment } from "../../app_types.ts";
import { readJson } from "../../body/json_body.ts";
import { createValidator } from "../../body/validate.ts";
import { HttpError } from "../../errors.ts";
import type { LogPosition } from "../../stream/event_log.ts";
import { json } from "../../stream/json.ts";
import { replay } from "../../stream/resumable.ts";
import { EVENT_STREAM } from "../../stream/stream.ts";
import { logName } from "../lasting.ts";
import { lookupSchema, type Streams } from "./schema.ts";

const validate = createValidator(lookupSchema);

/** Header by which a browser that reconnects says where it was. */
const ID = "last-event-id";

/** Routes of streams that clients take up again. */
export function streamRoutes({ logs }: AppDependencies): Hono<AppEnvironment> {
  const app = new Hono<AppEnvironment>();

  app.get("/v1/stream", (context) => {
    const { conv_id: conversation, from } = context.req.query();
    const log = logs.find(logName(context, "conversation", named(conversation)));
    if (!log) {
      throw new HttpError(
        404,
        `no stream of conversation '${conversation}' is kept here: its request had no header ` +
          "x-conversation-id, or it has ended some minutes ago",
        "conv_id",
      );
    }
    const position = positionOf(from, context.req.header(ID));
    return replay(log, position, new Headers(EVENT_STREAM));
  });

  app.delete("/v1/stream", (context) => {
    logs.remove(logName(context, "conversation", named(context.req.query("conv_id"))));
    return new Response(null, { status: 204 });
  });

  app.post("/v1/streams/lookup", async (context) => {
    const { conversation_ids: asked } = await validate(await readJson(context));
    if (!asked) throw new HttpError(400, "conversation_ids is required", "conversation_ids");
    const before = logName(context, "conversation", "");
    const idOf = (name: string) => name.startsWith(before) ? name.slice(before.length) : undefined;
    const isAsked = (name: string) => {
      const own = idOf(name);
      return own !== undefined && asked.some((id) => id === own || own.startsWith(`${id}::`));
    };
    return json<Streams>(
      logs.matching(isAsked).map(([name, { ended, began, size }]) => ({
        conversation_id: idOf(name)!,
        is_done: ended !== undefined,
        total_bytes: size,
        started_at: Math.floor(began / 1000),
        completed_at: Math.floor((ended ?? 0) / 1000),
      })),
    );
  });
  return app;
}

/** @throws {HttpError} 400 if it is missing */
function named(conversation: string | undefined): string {
  if (conversation) return conversation;
  throw new HttpError(400, "conv_id is required, in the query", "conv_id");
}

/**
 * From where a client goes on. The header of a browser that reconnects by itself comes before the query,
 * which is still that of its first request.
 *
 * @throws {HttpError} 400 for what is no number
 */
function positionOf(from: string | undefined, lastId: string | undefined): LogPosition {
  if (lastId) return { after: numberOf(lastId, ID, "the id of the last event"), member: ID };
  return { from: from ? numberOf(from, "from", "how many bytes have come") : 0, member: "from" };
}

function numberOf(text: string, member: string, meaning: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new HttpError(400, `${member} is no number: give ${meaning}`, member);
}
