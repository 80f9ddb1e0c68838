// Models with recurrent states go on with a conversation from copies of them.

import { checkConversation } from "../../conversation.ts";
import { randomTokens } from "../reference/file.ts";
import { writeReference } from "../reference/file.ts";
import { mamba2 } from "../reference/mamba2.ts";
import { qwen3Next } from "../reference/qwen3_next.ts";
import { RandomWeights } from "../reference/weights.ts";

for (const reference of [qwen3Next, mamba2]) {
  Deno.test(`${reference.architecture} reads no turn of a conversation twice`, async () => {
    const weights = new RandomWeights();
    reference.run(weights, randomTokens(2)); // makes them
    await checkConversation(await writeReference(reference, weights), {
      turns: 4,
      question: 45,
      answer: 40,
      options: { contextLength: 512, maxSequences: 2, exact: true, prefillChunk: 50 },
    });
  });
}
