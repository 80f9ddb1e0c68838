// What the tests of OpenAI's API share: scripts that think, speak and call, and streams as data.

import type { ChatEvent, DoneReason } from "../../../../../engine/types/mod.ts";
import { fakeUsage, type Script } from "../../../fake_model.ts";

/** A conversation of one turn. */
export const messages = [{ role: "user", content: "Hi" }];

/** A tool that tells the weather, as chats offer it. */
export const weather = {
  type: "function",
  function: {
    name: "weather",
    description: "Tells the weather",
    parameters: { type: "object", properties: { city: { type: "string" } } },
  },
};

/** A script that gives these events out between a start and an end. */
export function gives(events: ChatEvent[], reason: DoneReason = "stop"): Script {
  return async function* () {
    yield { type: "start", promptTokens: fakeUsage.promptTokens, cachedTokens: 4 };
    yield* events;
    yield { type: "done", reason, usage: fakeUsage };
  };
}

/** The events of a call whose arguments come in these pieces. */
export function callEvents(id: string, name: string, pieces: string[]): ChatEvent[] {
  const whole = pieces.join("");
  return [
    { type: "callStart", id, name },
    ...pieces.map((json) => ({ type: "callArguments" as const, id, json })),
    { type: "callEnd", id, name, arguments: whole === "" ? { a: 1 } : JSON.parse(whole) },
  ];
}

/** An event of a stream. */
export interface ReadEvent {
  event?: string;
  // deno-lint-ignore no-explicit-any
  data: any;
}

/** The events of a stream's text; "[DONE]" stays as it is. */
export async function readEvents(response: Response): Promise<ReadEvent[]> {
  const blocks = (await response.text()).split("\n\n");
  if (blocks.pop() !== "") throw new Error("Expected the stream to end with an empty line");
  return blocks.map((block) => {
    const [, event, data] = /^(?:event: (.*)\n)?data: (.*)$/.exec(block)!;
    return {
      ...(event !== undefined && { event }),
      data: data === "[DONE]" ? data : JSON.parse(data!),
    };
  });
}
