// Asks for answers under schemas with limits of tokens that are too low, just enough and plenty: what
// ends by itself has to be valid, what the limit shortened has to say so, a call that is handed out has to
// be whole, and what cannot fit has to be refused with the number of tokens that it takes.

import { Draws } from "../engine/grammar/fuzz/draws.ts";
import { judgeOf } from "../engine/grammar/fuzz/judge.ts";
import { SchemaMaker } from "../engine/grammar/fuzz/random_schema.ts";
import type { Send } from "./judge.ts";
import type { Route } from "./routes.ts";
import { type Question, QUESTIONS } from "./schemas.ts";
import { bodyOfStream } from "./streams.ts";

/** Schemas that are asked for: those of applications, and drawn ones. */
const SCHEMAS = 60;

/** Limits of tokens, up to what is enough for most. */
export const LIMITS: readonly number[] = [1, 2, 3, 5, 8, 12, 18, 27, 40, 60, 90, 200];

/** The schemas, each with a question. */
export function limitedQuestions(seed: number): Question[] {
  const draws = new Draws(seed);
  const all = [...QUESTIONS];
  while (all.length < SCHEMAS) {
    const schema = SchemaMaker.make(draws);
    if (judgeOf(schema) === undefined) continue;
    all.push({ name: `drawn schema ${all.length}`, prompt: "Give me one as JSON.", schema });
  }
  return all;
}

/** A request with a limit. */
export interface LimitedAsk {
  readonly maxTokens: number;
  readonly temperature: number;
  /** Of the draws at a temperature above 0. */
  readonly seed: number;
  readonly stream: boolean;
}

/** What came of it. */
export interface Limited {
  readonly kind: "whole" | "cut" | "refused";
  /** What is wrong; undefined if nothing is. */
  readonly fault?: string;
}

/** That a call does not fit its schema, or that nobody can tell. */
const UNFIT_CALL = /called with arguments that do not fit its schema|cannot be checked either/;

/** Asks one question by one route with a limit. */
export async function judgeLimit(
  send: Send,
  route: Route,
  question: Question,
  { stream, ...ask }: LimitedAsk,
): Promise<Limited> {
  const { prompt } = question;
  const schema = route.isTool ? asArguments(question.schema) : question.schema;
  const response = await send(route.path, {
    method: "POST",
    headers: { "content-type": "application/json", "anthropic-version": "2023-06-01" },
    body: JSON.stringify({ ...route.body({ prompt, schema, ...ask }), stream }),
  });
  const text = await response.text();
  if (response.status !== 200) return refusal(response.status, text);
  let kind: Limited["kind"] = "whole";
  try {
    const body = stream ? bodyOfStream(route.path, text) : JSON.parse(text);
    if (route.isCut(body)) kind = "cut";
    // What is cut may be any part of a document, but no part of a call.
    if (kind === "cut" && (!route.isTool || !route.hasCall!(body))) return { kind };
    // What no mask can hold of a tool's schema is left out, and the answer says so.
    if (route.isTool && UNFIT_CALL.test(text)) return { kind };
    const fault = judgeOf(schema)?.(route.read(body).value);
    return { kind, ...(fault !== undefined && { fault: `not valid: ${fault}: ${text}` }) };
  } catch (error) {
    return { kind, fault: `${(error as Error).message}: ${text}` };
  }
}

/** A schema of arguments, which are an object: a member holds what is none, as applications have it. */
function asArguments(schema: unknown): unknown {
  if (typeof schema === "object" && (schema as { type?: unknown }).type === "object") return schema;
  const { $defs, definitions, ...value } = Object(schema);
  return {
    type: "object",
    properties: { value: typeof schema === "boolean" ? schema : value },
    required: ["value"],
    additionalProperties: false,
    ...($defs && { $defs }),
    ...(definitions && { definitions }),
  };
}

/** A refusal is right for want of room, and for a schema that nothing fits or that cannot be enforced. */
function refusal(status: number, text: string): Limited {
  const isRight = status === 400 &&
    /the shortest answer takes \d+ tokens|no document fits|nothing fits|cannot (be|enforce)/i
      .test(text);
  return { kind: "refused", ...(!isRight && { fault: `status ${status}: ${text}` }) };
}
