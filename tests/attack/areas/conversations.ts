// Conversations that are drawn: roles in any order, calls whose results come crossed or not at all,
// answers that are to be continued, stop strings that occur anywhere, and limits that cut. The prompt
// has to show what was said in its order, and the answer has to be whole or say that it is not.

import { Draws } from "../../engine/grammar/fuzz/draws.ts";
import { type Area, type Case, recordsOf, type Trial } from "../trial.ts";
import { WINDOW } from "../models.ts";
import { hostileText } from "./texts.ts";

/** Conversations of the whole set. */
const RANDOM = 250;

const STOPS = ["\n", " ", "{", '"', "}", "a", "city", "tool", "</think>", "<tool_call>", "THE END"];

interface Message {
  role: string;
  content: string;
  thinking?: string;
  tool_calls?: { id: string; function: { name: string; arguments: object } }[];
  tool_call_id?: string;
}

const TOOL = {
  type: "function",
  function: {
    name: "weather",
    parameters: {
      type: "object",
      properties: { city: { type: "string", maxLength: 6 }, days: { type: "integer" } },
      required: ["city"],
    },
  },
};

/** A conversation in which each text is unlike all others. */
function drawnMessages(draws: Draws): Message[] {
  const messages: Message[] = [];
  const said = () => `[${messages.length}]${draws.oneIn(4) ? hostileText(draws, 12) : " words"}`;
  for (let left = draws.between(1, 12); left > 0; left--) {
    const role = draws.one(["user", "user", "assistant", "round", "system"]);
    if (role !== "round") {
      const thinking = role === "assistant" && draws.oneIn(3) && { thinking: `Hm ${said()}` };
      messages.push({ role, content: draws.oneIn(9) ? "" : said(), ...thinking });
      continue;
    }
    const ids = Array.from({ length: draws.between(1, 3) }, (_, i) => `c${messages.length}.${i}`);
    const tool_calls = ids.map((id) => ({
      id,
      function: { name: "weather", arguments: { city: id } },
    }));
    messages.push({ role: "assistant", content: "", tool_calls });
    if (draws.oneIn(2)) ids.reverse();
    if (draws.oneIn(6)) ids.pop();
    for (const id of ids) {
      messages.push({ role: "tool", tool_call_id: id, content: `(result of ${id})` });
    }
  }
  return messages;
}

/** Judges a prompt against the conversation. */
function judgePrompt(trial: Trial, messages: readonly Message[], prompt: string): void {
  const last = messages.at(-1)!;
  const isContinued = last.role === "assistant" && !last.tool_calls && last.content !== "";
  trial.check(
    !isContinued || prompt.endsWith(last.content),
    () => `a prompt that does not end with ${last.content}: ${prompt.slice(-200)}`,
  );
  for (const { tool_calls: calls = [] } of messages) {
    const places = calls.map(({ id }) => prompt.indexOf(`(result of ${id})`))
      .filter((place) => place >= 0);
    const isInOrder = places.every((place, i) => i === 0 || place > places[i - 1]!);
    trial.check(isInOrder, () => `results in another order than their calls: ${prompt}`);
  }
}

/** Judges which messages were left out: whole turns, and not the last question. */
function judgeDropped(
  trial: Trial,
  messages: readonly Message[],
  dropped: readonly number[],
): void {
  const kept = messages.findIndex(({ role }, i) => role !== "system" && !dropped.includes(i));
  const isWhole = dropped.every((index) => index < kept) &&
    (dropped.length === 0 || messages[kept]?.role === "user");
  trial.check(isWhole, () => `messages ${dropped} were left out of ${JSON.stringify(messages)}`);
}

/** Judges an answer, whose records were put together. */
function judgeAnswer(trial: Trial, records: readonly Record<string, unknown>[]): void {
  const parts = records.map(({ message }) => message as Partial<Message> | undefined);
  const calls = parts.flatMap((part) => part?.tool_calls ?? []);
  for (const { function: { arguments: given } } of calls) {
    const { city } = given as { city?: unknown };
    trial.check(typeof city === "string", () => `half a call: ${JSON.stringify(given)}`);
  }
  const text = parts.map((part) => part?.content ?? "").join("");
  trial.check(!text.includes("<tool_call>"), () => `a call as text: ${text}`);
  const { done_reason: reason } = records.at(-1) ?? {};
  trial.check(["stop", "length"].includes(String(reason)), () => `ended by ${reason}`);
}

/** Conversations, their prompts and answers. */
export const conversations: Area = {
  name: "conversations",
  weight: 1,
  cases({ seed, count }) {
    return Array.from({ length: count(RANDOM) }, (_, index): Case => {
      const own = seed * 10_000 + index;
      return {
        name: `a conversation that is drawn, ${own}`,
        async run(trial) {
          const draws = new Draws(own);
          const messages = drawnMessages(draws);
          const options = {
            num_predict: draws.between(1, 60),
            num_ctx: draws.one([WINDOW, WINDOW, 200]),
            seed: own,
            temperature: 1,
            stop: Array.from({ length: draws.between(0, 3) }, () => draws.one(STOPS)),
          };
          const think = draws.oneIn(2);
          const tools = draws.oneIn(2) ? [TOOL] : [];
          const body = { model: "tiny", messages, options, think, tools };
          const ask = async (more: object) => {
            const asked = { ...body, ...more };
            const { status, text } = await trial.ask({
              path: "/api/chat",
              body: asked,
              seconds: 15,
            });
            trial.check([200, 400].includes(status), () => `${status} ${text}`);
            return status === 200 ? recordsOf(text) : undefined;
          };
          const [shown] = await ask({ _debug_render_only: true, stream: false }) ?? [];
          const info = shown?._debug_info as { rendered_template: string } | undefined;
          if (info) judgePrompt(trial, messages, info.rendered_template);
          for (const stream of [false, true]) {
            const records = await ask({ stream });
            if (!records) continue;
            judgeAnswer(trial, records);
            const { dropped_indexes: dropped = [] } = records.at(-1)!;
            judgeDropped(trial, messages, dropped as number[]);
          }
          return 3;
        },
      };
    });
  },
};
