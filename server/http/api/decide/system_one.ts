// POST /v1/systemone: TypeSafe's form of decisions, which llama-server and Ollama take as well. A body
// becomes one of POST /v1/decisions, and its answers are told in the other form. Pure.
// Format: https://docs.typesafe.ai

import { HttpError } from "../../errors.ts";
import type { SystemOneAnswer, SystemOneAnswers } from "./answer_schema.ts";
import type { DecideOutcome } from "./body.ts";
import type { DecideBody, SystemOneBody, SystemOneQuestion, WireQuestion } from "./schema.ts";

/**
 * The body as one of POST /v1/decisions.
 *
 * @throws {HttpError} 400 for criteria that do not go with the type of a question
 */
export function asDecide(body: SystemOneBody): DecideBody {
  const { model, state, questions, options, keep_alive } = body;
  if (state === undefined || state === null) throw new HttpError(400, "state is missing", "state");
  return {
    model,
    options,
    keep_alive,
    input: textOf(state),
    questions: Object.entries(questions ?? {}).map(([name, question]) =>
      toQuestion(name, question)
    ),
  };
}

/** An error about the other form, in the words of this one. */
export function inWordsOf(error: unknown, { questions }: SystemOneBody): unknown {
  if (!(error instanceof HttpError)) return error;
  const names = Object.keys(questions ?? {});
  const told = (text: string) =>
    text.replace(
      /^questions\[(\d+)\](?:\.(choices|levels))?/,
      (_, index: string, member) => `questions.${names[+index]}${member ? ".criteria" : ""}`,
    ).replace(/^input\b/, "state");
  return new HttpError(
    error.status,
    told(error.message),
    error.param && told(error.param),
    error.code,
  );
}

/** The answers, by the names of the questions. */
export function systemOneAnswer(
  { model, result }: DecideOutcome,
  { questions }: SystemOneBody,
): SystemOneAnswers {
  const answers = Object.entries(questions ?? {}).map(([name, question], index) => {
    const answer = result.answers[index]!;
    switch (answer.type) {
      case "predicate":
        return [name, { type: "noul", noul: answer.probability }];
      case "choice":
        return [name, {
          type: "choice",
          choice: `${answer.choice}`,
          confidence: certainty(answer.probabilities),
          probabilities: Object.fromEntries(
            answer.probabilities.map(({ value, probability }) => [`${value}`, probability]),
          ),
        }];
      case "score": {
        const criteria = question.criteria as unknown[];
        return [name, {
          type: "score",
          score: answer.score,
          confidence: certainty(answer.probabilities),
          legend: Object.fromEntries(criteria.map((level, index) => [`${index}`, level])),
          probabilities: Object.fromEntries(
            answer.probabilities.map(({ value, probability }) => [`${value}`, probability]),
          ),
        }];
      }
    }
  }) as [string, SystemOneAnswer][];
  return {
    model,
    answers: Object.fromEntries(answers),
    usage: { input_tokens: result.promptTokens, output_tokens: 0 },
  };
}

/** How far the likeliest of several options is above all of them alike: 0 for that, 1 for certainty. */
function certainty(options: readonly { probability: number }[]): number {
  const alike = 1 / options.length;
  const most = Math.max(...options.map(({ probability }) => probability));
  return Math.min(1, Math.max(0, (most - alike) / (1 - alike)));
}

function toQuestion(name: string, question: SystemOneQuestion): WireQuestion {
  const { type, instructions, criteria } = question;
  const asked = textOf(instructions ?? name);
  const path = `questions.${name}.criteria`;
  const isList = Array.isArray(criteria);
  if (type === "score") {
    if (!isList) throw new HttpError(400, `${path} must be a list of levels`, path);
    return {
      type,
      name,
      instructions: asked,
      levels: criteria.map((level) => ({ label: textOf(level) })),
    };
  }
  if (isList) throw new HttpError(400, `${path} must be an object of descriptions by option`, path);
  if (type === "noul") return { type: "predicate", name, instructions: withSides(asked, criteria) };
  const choices = Object.entries(criteria ?? {}).map(([value, description]) => ({
    value,
    description: description === null ? null : textOf(description),
  }));
  return { type, name, instructions: asked, choices };
}

/** A statement, with what makes it true and what false. */
function withSides(asked: string, sides: SystemOneQuestion["criteria"]): string {
  const { true: yes, false: no } = (sides ?? {}) as Record<string, unknown>;
  return [
    asked,
    ...(yes == null ? [] : [`Yes: ${textOf(yes)}`]),
    ...(no == null ? [] : [`No: ${textOf(no)}`]),
  ].join("\n");
}

/** A text as it is, and other JSON as text. */
function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
