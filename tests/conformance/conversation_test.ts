// Conversations of twelve turns with every kind of hybrid model, and with one of sliding windows.

import { checkConversation } from "../conversation.ts";
import { conformanceTest, readFixture } from "./logits.ts";

const MODELS = [
  "granitehybrid-dense",
  "qwen3next-moe",
  "qwen35-dense",
  "falcon-h1-dense",
  "lfm2-dense",
  "nemotron_h-dense",
  "jamba-dense",
  "kimi-linear-moe",
  "mamba-dense",
  "mamba2-dense",
  "gemma3-dense",
];

for (const name of MODELS) {
  conformanceTest(`${name} reads no turn of a conversation twice`, async () => {
    const { model } = await readFixture("architectures", name);
    await checkConversation(model, {
      turns: 12,
      question: 9,
      answer: 11,
      options: { contextLength: 256, maxSequences: 2, exact: true },
    });
  });
}
