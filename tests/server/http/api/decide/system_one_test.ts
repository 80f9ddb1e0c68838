// POST /v1/systemone: questions by name as those of /v1/decisions, and answers in TypeSafe's form, over a
// model without weights, whose first option is twice as likely as each of the others.

import { assertEquals, assertStringIncludes } from "@std/assert";
import { createTestApp } from "../../../test_app.ts";

const path = "/v1/systemone";

Deno.test("questions of each type reach the model, and answers come by their names", async () => {
  const { post, loaded } = createTestApp();
  const answer = await (await post(path, {
    model: "tiny",
    state: { order: 4411, note: "charged twice" },
    questions: {
      refund: {
        type: "noul",
        instructions: "Money back?",
        criteria: { true: "asked for", false: null },
      },
      team: {
        type: "choice",
        instructions: "Whose?",
        criteria: { billing: "invoices", technical: null, other: null },
      },
      anger: { type: "score", criteria: ["calm", { level: "furious" }] },
    },
  })).json();
  const [request] = loaded[0]!.decideRequests;
  assertEquals(request!.input, '{"order":4411,"note":"charged twice"}');
  assertEquals(
    request!.questions.map(({ type, name, instructions }) => [type, name, instructions]),
    [
      ["predicate", "refund", "Money back?\nYes: asked for"],
      ["choice", "team", "Whose?"],
      ["score", "anger", "anger"],
    ],
  );
  assertEquals(answer, {
    model: "tiny",
    answers: {
      refund: { type: "noul", noul: 2 / 3 },
      team: {
        type: "choice",
        choice: "billing",
        confidence: 0.25,
        probabilities: { billing: 0.5, technical: 0.25, other: 0.25 },
      },
      anger: {
        type: "score",
        score: 0.5,
        confidence: answer.answers.anger.confidence,
        legend: { 0: "calm", 1: { level: "furious" } },
        probabilities: { 0: 2 / 3, 1: 1 / 3 },
      },
    },
    usage: { input_tokens: 12, output_tokens: 0 },
  });
  assertEquals(Math.abs(answer.answers.anger.confidence - 1 / 3) < 1e-12, true);
});

Deno.test("what cannot be asked is refused by the names of this form", async () => {
  const { post } = createTestApp();
  const noul = { type: "noul", instructions: "x" };
  const cases: [body: object, sentence: string, param: string | null][] = [
    [{ questions: { a: noul } }, "state is missing", "state"],
    [{ state: "x" }, "questions needs at least one question", "questions"],
    [
      { state: "x", questions: { a: { type: "yesno" } } },
      "questions.a.type must be one of",
      "questions.a.type",
    ],
    [
      { state: "x", questions: { a: { type: "choice", criteria: { b: null } } } },
      "questions.a.criteria needs at least two",
      "questions.a.criteria",
    ],
    [
      { state: "x", questions: { a: { type: "choice", criteria: ["b", "c"] } } },
      "questions.a.criteria must be an object",
      "questions.a.criteria",
    ],
    [
      { state: "x", questions: { a: { type: "score", criteria: { b: null } } } },
      "questions.a.criteria must be a list",
      "questions.a.criteria",
    ],
    [
      { state: "x", questions: { a: noul, b: { type: "score", criteria: ["c", "c"] } } },
      "questions.b.criteria[1] is the same as",
      "questions.b.criteria[1]",
    ],
    [
      { state: "x", questions: { a: noul }, assets: { a: 1 } },
      "assets is not known here",
      "assets",
    ],
    [{ state: "", questions: { a: noul } }, "state is missing", "state"],
  ];
  for (const [body, sentence, param] of cases) {
    const response = await post(path, { model: "tiny", ...body });
    const { error } = await response.json();
    assertEquals([response.status, error.param], [400, param], error.message);
    assertStringIncludes(error.message, sentence);
  }
  assertEquals(
    (await post(path, { model: "none", state: "x", questions: { a: noul } })).status,
    404,
  );
});
