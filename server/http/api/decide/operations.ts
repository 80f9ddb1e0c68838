// The operations that answer questions by the probabilities of their options.

import { native } from "../ollama/operations.ts";
import { openAiPost } from "../openai/operations.ts";
import { named, type Operation, whole } from "../openapi/operation.ts";
import { decideAnswerSchema, decisionSchema, systemOneAnswerSchema } from "./answer_schema.ts";
import { decideSchema, systemOneSchema } from "./schema.ts";

/** The model of examples: the one in the box. */
const model = "quern:tiny";

const body = named("DecisionRequest", decideSchema, {
  model,
  input: "I was charged twice for the same month.",
  questions: [
    { type: "predicate", name: "refund", instructions: "The customer wants money back." },
    {
      type: "choice",
      name: "team",
      instructions: "Which team is this for?",
      choices: [{ value: "billing" }, { value: "technical", description: "errors and outages" }],
    },
  ],
});

const refund = { type: "predicate" as const, name: "refund", probability: 0.875 };
const team = {
  type: "choice" as const,
  name: "team",
  choice: "billing",
  confidence: 0.75,
  probabilities: [
    { value: "billing", probability: 0.75 },
    { value: "technical", probability: 0.25 },
  ],
};

/** Decisions, in OpenAI's form and in the native one. */
export const decideOperations: Operation[] = [
  openAiPost({
    id: "createDecision",
    path: "/v1/decisions",
    summary: "Answer questions about an input by the probabilities of their options.",
    body,
    answers: whole("Decision", decisionSchema, {
      answers: [refund, team],
      model,
      usage: {
        input_tokens: 92,
        input_tokens_details: { cache_write_tokens: 0, cached_tokens: 0 },
        output_tokens: 0,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: 92,
      },
    }),
  }),
  openAiPost({
    id: "systemOne",
    path: "/v1/systemone",
    summary: "Answer questions as POST /v1/decisions does, in TypeSafe's form.",
    body: named("SystemOneRequest", systemOneSchema, {
      model,
      state: "I was charged twice for the same month.",
      questions: {
        refund: { type: "noul", instructions: "The customer wants money back." },
        team: { type: "choice", criteria: { billing: "invoices", technical: null } },
      },
    }),
    answers: whole("SystemOneAnswers", systemOneAnswerSchema, {
      model,
      answers: {
        refund: { type: "noul", noul: 0.875 },
        team: {
          type: "choice",
          choice: "billing",
          confidence: 0.5,
          probabilities: { billing: 0.75, technical: 0.25 },
        },
      },
      usage: { input_tokens: 92, output_tokens: 0 },
    }),
  }),
  native({
    id: "decide",
    method: "post",
    path: "/api/decide",
    summary: "Answer questions about an input by the probabilities of their options.",
    body,
    answers: whole("DecideAnswer", decideAnswerSchema, {
      model,
      answers: [{ ...refund, mass: 0.9 }, { ...team, mass: 0.8 }],
      total_duration: 14_143_917,
      load_duration: 1_019_500,
      prompt_eval_count: 92,
    }),
    failures: ["model", "busy", "remote"],
  }),
];
