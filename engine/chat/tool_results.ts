// Results of tools, bound to their calls. Most templates show results without ids, in the order of
// the messages, and models take them in the order of the calls.

import type { ChatMessage, ToolCall } from "../types/mod.ts";

/**
 * The messages, with results that follow parallel calls in the order of the calls. A result belongs
 * to the call that it names by its id, or else by its tool; any other to the next call without one.
 * A result that names its call by the id alone gets the tool's name, too.
 */
export function bindResults(messages: readonly ChatMessage[]): ChatMessage[] {
  const bound: ChatMessage[] = [];
  let calls: ToolCall[] = [];
  let results: ChatMessage[] = [];
  const give = () => {
    for (const result of inCallOrder(results, calls)) bound.push(result);
    results = [];
  };
  for (const message of messages) {
    if (message.role === "tool") {
      results.push(message);
      continue;
    }
    // Parallel calls may be in several messages of the assistant, one after the other.
    if (message.role !== "assistant" || results.length > 0) {
      give();
      calls = [];
    }
    for (const call of message.toolCalls ?? []) calls.push(call);
    bound.push(message);
  }
  give();
  return bound;
}

/** The results of calls in the order of these. */
function inCallOrder(results: readonly ChatMessage[], calls: readonly ToolCall[]): ChatMessage[] {
  const places: (number | undefined)[] = results.map(() => undefined);
  const free = new Set(calls.keys());
  /** Gives each result without a place that of the first free call with its key. */
  const bind = <K>(
    keyOf: (result: ChatMessage) => K | undefined,
    callKeyOf: (call: ToolCall) => K | undefined,
  ) => {
    const waiting = Map.groupBy([...free].reverse(), (index) => callKeyOf(calls[index]!));
    for (const [i, result] of results.entries()) {
      const key = keyOf(result);
      if (places[i] !== undefined || key === undefined) continue;
      const place = waiting.get(key)?.pop();
      if (place !== undefined) free.delete(places[i] = place);
    }
  };
  bind(({ toolCallId }) => toolCallId, ({ id }) => id);
  const named = results.map((result, i): ChatMessage => {
    const place = places[i];
    if (place === undefined || result.toolName !== undefined) return result;
    return { ...result, toolName: calls[place]!.function.name };
  });
  bind(({ toolName }) => toolName, ({ function: { name } }) => name);
  bind(() => true, () => true);
  const order = named.map((result, i) => ({ result, place: places[i] ?? calls.length }));
  return order.sort((a, b) => a.place - b.place).map(({ result }) => result);
}
