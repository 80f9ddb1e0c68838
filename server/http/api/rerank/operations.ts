// The operations that tell how well documents answer a query.

import { native } from "../ollama/operations.ts";
import { openAiPost } from "../openai/operations.ts";
import { named, type Operation, whole } from "../openapi/operation.ts";
import {
  anyRerankAnswerSchema,
  nativeRerankAnswerSchema,
  scoreAnswerSchema,
} from "./answer_schema.ts";
import { rerankSchema, scoreSchema } from "./schema.ts";

/** The model of examples: the one in the box. */
const model = "quern:tiny";
const query = "How do I pull a model?";
const documents = ["Run `quern pull NAME`.", "The sky is blue."];
const body = named("RerankRequest", rerankSchema, { model, query, documents, top_n: 2 });
const results = [{ index: 0, relevance_score: 0.875 }, { index: 1, relevance_score: 0.125 }];
const usage = { prompt_tokens: 92, total_tokens: 92 };
const id = "2f1e7a0c-6f3b-4a57-9d0e-3c8f5b6a7d10";

const answers = whole("RerankAnswer", anyRerankAnswerSchema, {
  id,
  object: "list",
  model,
  results,
  usage,
  meta: {
    api_version: { version: "2" },
    billed_units: { search_units: 0 },
    tokens: { input_tokens: 92, output_tokens: 0 },
  },
});

const scoring = {
  body: named("ScoreRequest", scoreSchema, { model, text_1: query, text_2: documents }),
  answers: whole("ScoreAnswer", scoreAnswerSchema, {
    id,
    object: "list",
    created: 1_795_413_005,
    model,
    data: [{ index: 0, object: "score", score: 0.875 }, {
      index: 1,
      object: "score",
      score: 0.125,
    }],
    usage,
  }),
};

const reranking = { summary: "Rank documents by how well they answer a query.", body, answers };
const scored = { summary: "Tell how well texts answer a query.", ...scoring };
const natively: Pick<Operation, "method" | "failures"> = {
  method: "post",
  failures: ["model", "busy", "remote"],
};

/** Ranking, in the forms of several vendors and the native one. */
export const rerankOperations: Operation[] = [
  openAiPost({ id: "rerank", path: "/v1/rerank", ...reranking }),
  openAiPost({ id: "reranking", path: "/v1/reranking", ...reranking }),
  openAiPost({ id: "score", path: "/v1/score", ...scored }),
  native({ id: "rerankOfCohere", path: "/v2/rerank", ...natively, ...reranking }),
  native({ id: "rerankWithoutVersion", path: "/rerank", ...natively, ...reranking }),
  native({ id: "rerankingWithoutVersion", path: "/reranking", ...natively, ...reranking }),
  native({ id: "scoreWithoutVersion", path: "/score", ...natively, ...scored }),
  native({
    id: "rerankNatively",
    path: "/api/rerank",
    ...natively,
    summary: reranking.summary,
    body,
    answers: whole("NativeRerankAnswer", nativeRerankAnswerSchema, {
      model,
      results,
      total_duration: 14_143_917,
      load_duration: 1_019_500,
      prompt_eval_count: 92,
    }),
  }),
];
