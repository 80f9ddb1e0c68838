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

/** A script that says a word whenever it is let, and ends when it is told to or aborted. */
export function steered() {
  let wake = Promise.withResolvers<void>();
  const words: (string | undefined)[] = [];
  const say = (word: string | undefined) => {
    words.push(word);
    wake.resolve();
  };
  const script: Script = async function* ({ signal }) {
    yield { type: "start", promptTokens: 11, cachedTokens: 4 };
    signal!.addEventListener("abort", () => wake.resolve());
    for (;;) {
      const word = words.shift();
      if (signal!.aborted) return;
      if (word === "") {
        yield { type: "done", reason: "stop", usage: fakeUsage };
        return;
      }
      if (word !== undefined) {
        yield { type: "text", text: word } as ChatEvent;
        continue;
      }
      await wake.promise;
      wake = Promise.withResolvers();
    }
  };
  return { script, say, end: () => say("") };
}

/** An event of a stream with ids. */
export interface ToldEvent {
  id: number;
  // deno-lint-ignore no-explicit-any
  data: any;
}

/** Reads events of a stream until there are so many, then leaves; or to its end. */
export async function readNumbered(response: Response, most = Infinity): Promise<ToldEvent[]> {
  const told: ToldEvent[] = [];
  let text = "";
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  while (told.length < most) {
    const { done, value } = await reader.read();
    if (done) break;
    text += value;
    const blocks = text.split("\n\n");
    text = blocks.pop()!;
    for (const block of blocks) {
      const id = /^id: (\d+)$/m.exec(block);
      if (!id) continue;
      told.push({ id: Number(id[1]), data: JSON.parse(/^data: (.*)$/m.exec(block)![1]!) });
    }
  }
  await reader.cancel();
  return told;
}
