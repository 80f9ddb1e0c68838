// Several continuations as one generation: they run side by side, and their events come in one stream,
// each with the index of its continuation. No event is given before all of them have begun, so that an
// error of any is found before the answer begins. And what a client is told of the events.

import type { ChatEvent, Usage } from "../../../engine/mod.ts";

/** An event of one of several continuations. */
export type IndexedEvent = ChatEvent & { choice?: number };

/**
 * Runs continuations to their ends. Each `done` carries the counts of all that have ended so far, so
 * that the last one has those of the whole. If one fails, the others end too.
 *
 * @param starts begin a continuation each
 * @param perPrompt how many in a row have the same prompt, whose tokens count once
 */
export async function* mergeChoices(
  starts: readonly (() => AsyncIterable<ChatEvent>)[],
  perPrompt = 1,
): AsyncGenerator<IndexedEvent> {
  const sources: AsyncIterator<ChatEvent>[] = [];
  const next = (choice: number) => {
    const event = sources[choice]!.next().then((result) => ({ choice, result }));
    // While the reader holds an event, nobody awaits the others: a failure must not crash the program.
    event.catch(() => {});
    return event;
  };
  const pending = new Map<number, ReturnType<typeof next>>();
  let usage: Usage | undefined;
  try {
    for (const start of starts) sources.push(start()[Symbol.asyncIterator]());
    for (const choice of sources.keys()) pending.set(choice, next(choice));
    await Promise.all(pending.values());
    while (pending.size > 0) {
      const { choice, result: { done, value } } = await Promise.race(pending.values());
      pending.delete(choice);
      if (done) continue;
      // It goes to the end of the map, so that the one that has waited longest comes first.
      pending.set(choice, next(choice));
      if (value.type !== "done") {
        yield { ...value, choice };
        continue;
      }
      const own = choice % perPrompt === 0 ? value.usage : withoutPrompt(value.usage);
      yield { ...value, choice, usage: usage = add(usage, own) };
    }
  } finally {
    await Promise.allSettled(sources.map((source) => source.return?.()));
    await Promise.allSettled(pending.values());
  }
}

/** The counts of an answer to a prompt that another one counts. */
function withoutPrompt(
  { fromMemoryTokens: _memory, fromDiskTokens: _disk, ...usage }: Usage,
): Usage {
  return { ...usage, promptTokens: 0, cachedTokens: 0 };
}

/** The sum of the counts, and the longest of the times, since all run at once. */
function add(sum: Usage | undefined, usage: Usage): Usage {
  if (!sum) return usage;
  return {
    promptTokens: sum.promptTokens + usage.promptTokens,
    cachedTokens: sum.cachedTokens + usage.cachedTokens,
    completionTokens: sum.completionTokens + usage.completionTokens,
    ...addRestored(sum, usage),
    ...addDrafts(sum, usage),
    promptMilliseconds: Math.max(sum.promptMilliseconds, usage.promptMilliseconds),
    completionMilliseconds: Math.max(sum.completionMilliseconds, usage.completionMilliseconds),
  };
}

function addRestored(a: Usage, b: Usage): Partial<Usage> {
  const fromMemoryTokens = (a.fromMemoryTokens ?? 0) + (b.fromMemoryTokens ?? 0);
  const fromDiskTokens = (a.fromDiskTokens ?? 0) + (b.fromDiskTokens ?? 0);
  return {
    ...(fromMemoryTokens > 0 && { fromMemoryTokens }),
    ...(fromDiskTokens > 0 && { fromDiskTokens }),
  };
}

function addDrafts(a: Usage, b: Usage): Partial<Usage> {
  const draftedTokens = (a.draftedTokens ?? 0) + (b.draftedTokens ?? 0);
  const acceptedTokens = (a.acceptedTokens ?? 0) + (b.acceptedTokens ?? 0);
  return draftedTokens > 0 ? { draftedTokens, acceptedTokens } : {};
}

/** How the events of an answer differ from those of the model. */
export interface TellOptions {
  /** What is done in another way than the request asks, a sentence each. */
  warnings?: readonly string[];
  /** Whether what the model thinks is left out. */
  hidesThinking?: boolean;
  /** Whether it is a part of the text, between marks. */
  inlinesThinking?: boolean;
}

/** The marks around thinking in a text. */
const [OPEN, CLOSE] = ["<think>", "</think>"];

/** The events as they are told: thinking where it belongs, and warnings at the end. */
export function told(
  events: AsyncIterable<ChatEvent>,
  options: TellOptions,
): AsyncIterable<ChatEvent> {
  const { warnings = [], hidesThinking = false, inlinesThinking = false } = options;
  const isAsItIs = warnings.length === 0 && !hidesThinking && !inlinesThinking;
  return isAsItIs ? events : change(events, { warnings, hidesThinking, inlinesThinking });
}

async function* change(
  events: AsyncIterable<IndexedEvent>,
  { warnings, hidesThinking, inlinesThinking }: Required<TellOptions>,
): AsyncGenerator<IndexedEvent> {
  /** The answers that are within their thinking. */
  const thinking = new Set<number | undefined>();
  for await (const event of events) {
    const { type, choice } = event;
    const text = (text: string): IndexedEvent => {
      return { type: "text", text, ...(choice !== undefined && { choice }) };
    };
    if (type === "thinking") {
      if (hidesThinking) continue;
      if (!inlinesThinking) yield event;
      else if (thinking.has(choice)) yield text(event.text);
      else yield text(OPEN + event.text);
      thinking.add(choice);
      continue;
    }
    if (inlinesThinking && thinking.delete(choice)) yield text(CLOSE);
    yield type === "done" ? { ...event, notes: [...warnings, ...event.notes ?? []] } : event;
  }
}
