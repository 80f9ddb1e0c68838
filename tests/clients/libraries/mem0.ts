// mem0 as a library, with the models that it asks for when it is told none: it looks for them in the
// list, and pulls what is not there. They are copies of the model in the box by those names.

import { strict as assert } from "node:assert";
import process from "node:process";
import * as box from "./checks.ts";

const { Memory } = await box.load("mem0ai/oss");
const userId = "nora";
/** Width of the model in the box. */
const dimension = 256;

await box.check("chat", async () => {
  const memory = new Memory({
    llm: { provider: "ollama", config: { baseURL: box.url } },
    embedder: { provider: "ollama", config: { baseURL: box.url, embeddingDims: dimension } },
    vectorStore: {
      provider: "memory",
      config: { collectionName: "facts", dimension, dbPath: `${process.env.HOME}/vectors.db` },
    },
    historyDbPath: `${process.env.HOME}/history.db`,
  });
  // As it is said, and as the model has it.
  await memory.add("Nora lives in Rome.", { userId, infer: false });
  await memory.add("Nora is 34 years old.", { userId });
  const { results } = await memory.search("Where does Nora live?", {
    filters: { user_id: userId },
  });
  assert(results.some((found: { memory: string }) => found.memory === "Nora lives in Rome."));
});
