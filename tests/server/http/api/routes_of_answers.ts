// The routes that answer a conversation or continue a text, with the least body of each, and what tests
// of all of them ask: one of them with more members.

import { createTestApp, type TestApp } from "../../test_app.ts";
import type { FakeModelOptions } from "../../fake_model.ts";

const messages = [{ role: "user", content: "Hi" }];

/** The least body of each route. */
export const ANSWERING: Readonly<Record<string, object>> = {
  "/api/chat": { messages, stream: false },
  "/api/generate": { prompt: "Hi", stream: false },
  "/v1/chat/completions": { messages },
  "/v1/completions": { prompt: "Hi" },
  "/v1/responses": { input: "Hi" },
  "/v1/messages": { messages, max_tokens: 10 },
};

/** A model that does all that can be asked. */
export const able: FakeModelOptions = { info: { callsTools: true, thinks: true } };

/** What a request with these members is answered with. */
export interface Asked {
  status: number;
  // deno-lint-ignore no-explicit-any
  body: any;
  /** The sentence of an error, and the member that it is about where the API tells that. */
  message: string | undefined;
  param: string | undefined;
  /** What reached the model. */
  // deno-lint-ignore no-explicit-any
  request: any;
}

/** Asks a route of an application for something more than its least body. */
export async function ask(
  path: string,
  members: object,
  app: TestApp = createTestApp(able),
): Promise<Asked> {
  const response = await app.post(path, { model: "tiny", ...ANSWERING[path], ...members });
  const body = await response.json();
  const error = typeof body.error === "string" ? { message: body.error } : body.error;
  return {
    status: response.status,
    body,
    message: error?.message,
    param: error?.param,
    request: app.loaded[0]?.requests.at(-1)?.request,
  };
}
