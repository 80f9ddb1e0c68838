// The events of an answer that can have text alone. Pure.

import type { ChatEvent, GenerateEvent } from "../../engine/mod.ts";

/** The events without thinking and calls. Which tokens text is made of, other servers do not tell. */
export async function* textOnly(events: AsyncIterable<ChatEvent>): AsyncGenerator<GenerateEvent> {
  for await (const event of events) {
    if (event.type === "text") yield { ...event, type: "text", tokens: [] };
    else if (event.type === "queued" || event.type === "start") yield event;
    else if (event.type === "done") yield event;
  }
}
