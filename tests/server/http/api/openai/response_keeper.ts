// What the tests of kept responses share: an application over a model without weights that keeps its
// responses in a folder of its own.

import type { ChatRequest } from "../../../../../engine/types/mod.ts";
import type { AppOptions } from "../../../../../server/http/app_types.ts";
import {
  ResponseStore,
  type ResponseStoreOptions,
} from "../../../../../server/http/response_store.ts";
import type { FakeModelOptions } from "../../../fake_model.ts";
import { createTestApp, type TestApp } from "../../../test_app.ts";

/** Path of responses. */
export const path = "/v1/responses";
/** Model that is asked. */
export const model = "tiny";
/** A model that can all that is tried here. */
export const able = { info: { callsTools: true, thinks: true, readsImages: true } };

/** A body that was answered. */
// deno-lint-ignore no-explicit-any
export type Answer = any;

/** An application under test, and short ways to use it. */
export interface Keeper extends TestApp {
  folder: string;
  ask(body: object, headers?: Record<string, string>): Promise<Answer>;
  get(path: string, headers?: Record<string, string>): Promise<Answer>;
  /** What the model was last told. */
  told(): ChatRequest["messages"];
}

/** An application that keeps responses, and another view of the same folder for each `again`. */
export async function withKeeper(
  test: (keeper: Keeper, again: typeof makeKeeper) => Promise<void>,
  fake: FakeModelOptions = able,
  options: Partial<AppOptions> & { bounds?: Partial<ResponseStoreOptions> } = {},
): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await test(makeKeeper(folder, fake, options), makeKeeper);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** An application over what is kept in a folder. */
export function makeKeeper(
  folder: string,
  fake: FakeModelOptions = able,
  { bounds, ...options }: Partial<AppOptions> & { bounds?: Partial<ResponseStoreOptions> } = {},
): Keeper {
  const test = createTestApp(fake, {
    responses: new ResponseStore({
      folder,
      warn() {},
      count: 100,
      bytes: 1e9,
      age: 3_600_000,
      ...bounds,
    }),
    ...options,
  });
  const send = async (path: string, init: RequestInit = {}) => {
    const response = await test.app.request(path, init);
    return { status: response.status, ...await response.json() };
  };
  return {
    ...test,
    folder,
    ask: (body, headers = {}) =>
      send(path, { method: "POST", headers, body: JSON.stringify({ model, ...body }) }),
    get: (id, headers = {}) => send(`${path}/${id}`, { headers }),
    told: () => (test.loaded.at(-1)!.requests.at(-1)!.request as ChatRequest).messages,
  };
}

/** A turn. */
export const message = (role: string, content: string) => ({ role, content });
