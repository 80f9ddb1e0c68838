// TypeSafe's library, which asks for decisions.

import { strict as assert } from "node:assert";
import { BOX } from "../../server/box_talk.ts";
import * as box from "./checks.ts";

const { TypeSafeClient } = await box.load("@typesafe-ai/sdk");
const client = new TypeSafeClient({
  apiKey: "any",
  baseURL: box.url,
  defaultModel: BOX,
  retry: { maxRetries: 0 },
});
const state = "I was charged twice for the same month.";
const refund = { type: "noul", instructions: "The customer wants money back." };

await box.check("chat", async () => {
  const { answers, usage, model } = await client.systemOne({
    state,
    questions: {
      refund,
      team: { type: "choice", criteria: { billing: "invoices", technical: null } },
      anger: { type: "score", instructions: "How angry?", criteria: ["calm", "angry"] },
    },
  });
  assert.equal(model, BOX);
  assert(answers.refund.noul >= 0 && answers.refund.noul <= 1);
  const { billing, technical } = answers.team.probabilities;
  assert(Math.abs(billing + technical - 1) < 1e-6);
  assert.equal(answers.team.choice, billing > technical ? "billing" : "technical");
  assert.deepEqual(answers.anger.legend, { 0: "calm", 1: "angry" });
  assert(usage.input_tokens > 0);
});

await box.check("overflow", async () => {
  const long = client.systemOne({ state: box.long, questions: { refund } });
  await assert.rejects(long, { status: 400 });
  const alone = { type: "choice", criteria: { only: null } };
  await assert.rejects(client.systemOne({ state, questions: { alone } }), { status: 400 });
});
