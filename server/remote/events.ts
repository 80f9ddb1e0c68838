// Events of answers from other servers: tool calls, which OpenAI's servers stream in pieces with an
// index or an id, as calls each of which is whole before the next one begins; and the events of an
// answer that can only have text. Pure.

import type { ChatEvent, GenerateEvent } from "../../engine/mod.ts";

/** A piece of a call; the first one of each has the name. */
export interface CallPiece {
  index?: number | null;
  id?: string | null;
  function?: { name?: string | null; arguments?: string | Record<string, unknown> | null };
}

/** Gathers the calls of one answer. */
export class CallStream {
  #call: { index?: number; id: string; name: string; json: string } | undefined;

  /** The events that a piece brings. */
  *add({ index, id, function: { name, arguments: given } = {} }: CallPiece): Generator<ChatEvent> {
    const isOther = (index ?? this.#call?.index) !== this.#call?.index ||
      Boolean(id && name && id !== this.#call?.id);
    if (!this.#call || isOther) {
      yield* this.end({ isCut: false });
      this.#call = {
        ...(typeof index === "number" && { index }),
        id: id || newCallId(),
        name: name ?? "",
        json: "",
      };
      yield { type: "callStart", id: this.#call.id, name: this.#call.name };
    }
    const json = typeof given === "object" && given !== null ? JSON.stringify(given) : given;
    if (!json) return;
    this.#call.json += json;
    yield { type: "callArguments", id: this.#call.id, json };
  }

  /**
   * Ends the call that is open, if one is. It has no end if it is not whole.
   *
   * @param isCut whether a limit ended the answer; otherwise a call without arguments is whole, too
   */
  *end({ isCut }: { isCut: boolean }): Generator<ChatEvent> {
    if (!this.#call) return;
    const { id, name, json } = this.#call;
    this.#call = undefined;
    const given = json === "" && !isCut ? "{}" : json;
    const values = parseArguments(given);
    if (!values) return;
    if (json === "") yield { type: "callArguments", id, json: given };
    yield { type: "callEnd", id, name, arguments: values };
  }
}

/** An id for a call that has none. */
export function newCallId(): string {
  return `call_${crypto.randomUUID().replaceAll("-", "").slice(0, 24)}`;
}

/** Arguments; undefined if they are no object, as where an answer was cut short. */
function parseArguments(json: string): Record<string, unknown> | undefined {
  try {
    const value = JSON.parse(json);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The events without thinking and calls. Which tokens text is made of, other servers do not tell. */
export async function* textOnly(events: AsyncIterable<ChatEvent>): AsyncGenerator<GenerateEvent> {
  for await (const event of events) {
    if (event.type === "text") yield { ...event, type: "text", tokens: [] };
    else if (event.type === "queued" || event.type === "start") yield event;
    else if (event.type === "done") yield event;
  }
}
