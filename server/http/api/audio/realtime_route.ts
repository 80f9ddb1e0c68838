// GET /v1/realtime?intent=transcription: a WebSocket over which a client sends sound and is told what is
// said, in OpenAI's realtime transcription events.

import { Hono } from "../../../dependencies.ts";
import type { AppDependencies, AppEnvironment } from "../../app_types.ts";
import { asksForSocket, becomeSocket, type ServerSocket } from "../../connection/mod.ts";
import { HttpError } from "../../errors.ts";
import { RealtimeSession } from "./realtime_session.ts";
import { runTranscription } from "./transcription.ts";

/** The route of sessions. */
export function realtimeRoutes(dependencies: AppDependencies): Hono<AppEnvironment> {
  const app = new Hono<AppEnvironment>();
  app.get("/v1/realtime", async (context) => {
    const { intent, model } = context.req.query();
    if (intent !== "transcription") {
      throw new HttpError(
        400,
        `there are realtime sessions for transcription alone: ask for ?intent=transcription`,
        "intent",
      );
    }
    if (!asksForSocket(context.req.raw)) {
      throw new HttpError(400, "/v1/realtime is for WebSockets: connect with one");
    }
    if (model) await dependencies.store.find(model);
    becomeSocket(context.req.raw, (socket) => serve(socket, dependencies, model));
    return context.body(null, 200);
  });
  return app;
}

/** Serves a session until its client leaves. */
async function serve(
  socket: ServerSocket,
  dependencies: AppDependencies,
  model: string | undefined,
): Promise<void> {
  const { signal } = socket;
  const session = new RealtimeSession({
    model,
    send: (event) => socket.send(JSON.stringify(event)),
    transcribe(model, request) {
      const either = request.signal ? AbortSignal.any([signal, request.signal]) : signal;
      return runTranscription(dependencies, model, { signal: either }, {
        ...request,
        signal: either,
      });
    },
    isBusy: () => dependencies.queue.length > 0,
    check: (model) => dependencies.store.find(model),
  });
  await session.begin();
  for await (const message of socket.messages()) await session.take(message);
  await session.end();
}
