// Asks for structured answers and judges them: each has to be valid, without keys that its schema does
// not declare, and no longer than the answer to the same schema closed in so many words.

import { judgeOf } from "../engine/grammar/fuzz/judge.ts";
import type { Answer, Ask, Route } from "./routes.ts";
import { closedForm, type Question } from "./schemas.ts";

/** Longest that an answer may be beside that to the closed schema. */
const MOST_LONGER = 1.2;

/** Tokens that an answer may have: few of them are led to their ends. */
const MAX_TOKENS = 300;

/** How an application is asked. */
export type Send = (path: string, init: RequestInit) => Promise<Response>;

/** What came of one question. */
export interface Verdict {
  readonly answer: Answer | undefined;
  /** Tokens of the answer to the closed schema. */
  readonly closedTokens: number;
  /** What is wrong; undefined if nothing is. */
  readonly fault: string | undefined;
}

/** Asks one question by one route. @param seed also of the draws at a temperature above 0 */
export async function judge(
  send: Send,
  route: Route,
  question: Question,
  temperature: number,
  seed: number,
): Promise<Verdict> {
  const ask = { prompt: question.prompt, temperature, seed, maxTokens: MAX_TOKENS };
  const closed = closedForm(question.schema);
  let answer: Answer | undefined;
  try {
    answer = await answerOf(send, route, { ...ask, schema: question.schema });
    const fault = judgeOf(question.schema)?.(answer.value);
    if (fault) return { answer, closedTokens: 0, fault: `not valid: ${fault}` };
    const own = judgeOf(closed)?.(answer.value);
    if (own) return { answer, closedTokens: 0, fault: `a key of its own: ${own}` };
    // What a tool's schema says stands in the prompt, so that lengths tell nothing there.
    if (route.isTool) return { answer, closedTokens: answer.tokens, fault: undefined };
    const twin = await answerOf(send, route, { ...ask, schema: closed });
    const isLonger = answer.tokens > MOST_LONGER * twin.tokens;
    const fault2 = isLonger ? `${answer.tokens} tokens for ${twin.tokens}` : undefined;
    return { answer, closedTokens: twin.tokens, fault: fault2 };
  } catch (error) {
    return { answer, closedTokens: 0, fault: error instanceof Error ? error.message : `${error}` };
  }
}

async function answerOf(send: Send, route: Route, ask: Ask): Promise<Answer> {
  const response = await send(route.path, {
    method: "POST",
    headers: { "content-type": "application/json", "anthropic-version": "2023-06-01" },
    body: JSON.stringify(route.body(ask)),
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`status ${response.status}: ${text}`);
  return route.read(JSON.parse(text));
}
