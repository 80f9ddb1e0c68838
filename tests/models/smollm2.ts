// SmolLM2-135M-Instruct, quantized to Q4_1: a trained model that chats, and whose logits over a real
// vocabulary masks have to hold.

import { deepStrictEqual as assertEquals, ok as assert } from "node:assert";
import { type ChatMessage, type ChatRequest, loadModel, SchemaError } from "../../engine/mod.ts";
import { Draws } from "../engine/grammar/fuzz/draws.ts";
import { judgeOf } from "../engine/grammar/fuzz/judge.ts";
import { SchemaMaker } from "../engine/grammar/fuzz/random_schema.ts";
import { greatest, measureDivergence } from "./divergence.ts";
import { modelPath, testModel } from "./files.ts";

const NAME = "smollm2-135m-q4_1";
const GREEDY = { temperature: 0, repeatPenalty: 1 };
const CUT = 40;

/**
 * Greedy answers in exact arithmetic, the second conversation cut after 40 tokens. llama.cpp of
 * September 2026 has the same most probable token at each of their 94 positions with the weights
 * widened to F32; the next one is at least 0.011 below.
 */
const CONVERSATIONS = [
  [
    { question: "What is the capital of France?", answer: "The capital of France is Paris." },
    { question: "And of Italy?", answer: "The capital of Italy is Rome." },
  ],
  [
    {
      question: "List three colours.",
      answer:
        "1. Red: The most popular colour among the 11 colors of the rainbow.\n2. Blue: The most popular colour among the 11 colors of the rainbow.\n3.",
    },
    {
      question: "Which of them is the colour of grass?",
      answer:
        "1. Red: The most popular colour among the 11 colors of the rainbow.\n2. Blue: The most popular colour among the 11 colors of the rainbow.\n3.",
    },
  ],
];

async function answerOf(
  model: Awaited<ReturnType<typeof loadModel>>,
  request: ChatRequest,
): Promise<{ text: string; reason: string }> {
  const answer = { text: "", reason: "" };
  for await (const event of model.chat(request)) {
    if (event.type === "text") answer.text += event.text;
    if (event.type === "done") answer.reason = event.reason;
  }
  return answer;
}

testModel(NAME, "answers conversations as llama.cpp does, in exact arithmetic", async () => {
  const load = { exact: true, contextLength: 512, maxSequences: 1 };
  await using model = await loadModel(modelPath(NAME), load);
  for (const turns of CONVERSATIONS) {
    const messages: ChatMessage[] = [];
    for (const { question, answer } of turns) {
      messages.push({ role: "user", content: question });
      const { text } = await answerOf(model, { messages, maxTokens: CUT, ...GREEDY });
      assertEquals(text, answer);
      messages.push({ role: "assistant", content: text });
    }
  }
});

testModel(NAME, "computes with as little error as llama.cpp", async () => {
  const text = await Deno.readTextFile(new URL("text.md", import.meta.url));
  const found = await measureDivergence(modelPath(NAME), text);
  // 0.00314, 0.959 and 15.688 when this was written; on another text llama.cpp had 0.00288 and 0.958,
  // Quern 0.00292 and 0.958. A tenth more is within what other instructions of a CPU change.
  assert(found.divergence < 0.0035, `divergence ${found.divergence}`);
  assert(found.sameTop > 0.95, `same token at ${found.sameTop}`);
  assert(Math.abs(found.perplexity - 15.688) < 0.02, `perplexity ${found.perplexity}`);
});

testModel(NAME, "gives the same logits for a long prompt, whatever its chunks", async () => {
  const text = await Deno.readTextFile(new URL("text.md", import.meta.url));
  const load = { exact: true, contextLength: 4096, maxSequences: 1, cacheWindows: 1 };
  await using model = await loadModel(modelPath(NAME), load);
  const tokens = model.tokenizer.encode(text).slice(0, 2500);
  const size = model.tokenizer.vocabularySize;
  const [whole, pieces] = [
    await model.logits(tokens),
    await model.logits(tokens, { chunkSize: 37 }),
  ];
  for (let row = 0; row < tokens.length; row += 101) {
    const [a, b] = [whole, pieces].map((all) => all.subarray(row * size, (row + 1) * size));
    assertEquals(greatest(a!), greatest(b!), `row ${row}`);
    const off = a!.reduce((most, value, i) => Math.max(most, Math.abs(value - b![i]!)), 0);
    // Sums of f32 in another order: some 1e-4 of logits up to 30.
    assert(off < 5e-3, `row ${row} is off by ${off}`);
  }
});

testModel(
  NAME,
  "gives 300 answers under random schemas that Ajv accepts, or says length",
  async () => {
    const WANTED = 300;
    await using model = await loadModel(modelPath(NAME), { contextLength: 1024, maxSequences: 8 });
    const draws = new Draws(35);
    const faults: string[] = [];
    let [answers, cut, refused] = [0, 0, 0];
    const work = async () => {
      while (answers + cut < WANTED) {
        const schema = SchemaMaker.make(draws);
        const judge = judgeOf(schema);
        if (!judge) continue;
        const content = `Give me an example of this JSON Schema: ${JSON.stringify(schema)}`;
        const messages: ChatMessage[] = [{ role: "user", content: content.slice(0, 1500) }];
        const request = { messages, format: { schema }, maxTokens: 150, temperature: 1, seed: 35 };
        try {
          const { text, reason } = await answerOf(model, request);
          if (reason === "length") cut++;
          else {
            answers++;
            const fault = judge(JSON.parse(text));
            if (fault) faults.push(`${fault}: ${text} for ${JSON.stringify(schema)}`);
          }
        } catch (error) {
          // What has no document at all.
          if (error instanceof SchemaError) refused++;
          else faults.push(`${error} for ${JSON.stringify(schema)}`);
        }
      }
    };
    await Promise.all(Array.from({ length: 8 }, work));
    assertEquals(faults, []);
    assert(cut < WANTED / 3, `${cut} of ${WANTED} were cut`);
    assert(refused < WANTED / 3, `${refused} were refused`);
  },
);
