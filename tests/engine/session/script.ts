// A model for sessions that says what a test wrote down: an answer a round, with calls, and it remembers
// the requests.

import type { ChatEvent, ChatRequest } from "../../../engine/mod.ts";
import { FakeModel, fakeUsage } from "../../server/fake_model.ts";

/** What the model says in a round: a text, or calls with their arguments. */
export type Said = string | { calls: readonly Call[]; text?: string } | Error;
type Call = readonly [name: string, given: Record<string, unknown>];

/** The model, and the requests that it got. */
export function scripted(...rounds: readonly Said[]): FakeModel & { asked: ChatRequest[] } {
  const asked: ChatRequest[] = [];
  let calls = 0;
  const model = new FakeModel({
    async *script(request): AsyncGenerator<ChatEvent> {
      const said = rounds[asked.length];
      asked.push(request as ChatRequest);
      if (said === undefined) throw new Error("The script is over");
      yield { type: "start", promptTokens: fakeUsage.promptTokens, cachedTokens: 4 };
      await Promise.resolve();
      if (said instanceof Error) throw said;
      const { text = "", calls: made = [] } = typeof said === "string" ? { text: said } : said;
      for (const piece of text.match(/\S+\s*/g) ?? []) {
        if (request.signal?.aborted) return;
        yield { type: "text", text: piece };
      }
      for (const [name, given] of made) {
        const id = `call_${++calls}`;
        yield { type: "callStart", id, name };
        yield { type: "callArguments", id, json: JSON.stringify(given) };
        yield { type: "callEnd", id, name, arguments: given };
      }
      if (request.signal?.aborted) return;
      yield { type: "done", reason: "stop", usage: fakeUsage };
    },
  });
  return Object.assign(model, { asked });
}

/** A validator of numbers as Standard Schema has them, without a library. */
export function evenNumbers(jsonSchema = true) {
  return {
    "~standard": {
      version: 1,
      vendor: "test",
      validate: (value: unknown) =>
        (value as { count: number }).count % 2 === 0
          ? { value: value as { count: number } }
          : { issues: [{ message: "it is odd", path: ["count"] }] },
      ...(jsonSchema && {
        jsonSchema: {
          input: () => ({
            type: "object",
            properties: { count: { type: "integer" } },
            required: ["count"],
          }),
        },
      }),
    },
  } as const;
}
