// What is asked of the library wherever it is tried. The function uses nothing but its arguments, so that
// its text can be run in Node and in a page.

import type * as library from "../../mod.ts";

/** Answers that are always the same. */
export interface Answers {
  /** What quern:tiny says in a conversation. */
  readonly chat: string;
  /** A document of a schema. */
  readonly document: string;
  /** A vector of a text, of which the first numbers are here. */
  readonly vector: number[];
}

/**
 * Loads a model from its bytes and asks it.
 *
 * @param device default: the CPU, which is everywhere, on the thread that loads the model
 */
export async function rehearse(
  { filesInMemory, loadModel }: Pick<typeof library, "filesInMemory" | "loadModel">,
  bytes: Uint8Array,
  device: library.DeviceOptions = { kind: "cpu", threads: 1 },
): Promise<Answers> {
  const model = await loadModel("tiny.gguf", {
    files: filesInMemory({ "tiny.gguf": bytes }),
    contextLength: 512,
    maxSequences: 1,
    device,
  });
  const ask = async (content: string, format?: library.OutputFormat) => {
    let text = "";
    const messages: library.ChatMessage[] = [{ role: "user", content }];
    const request = { messages, temperature: 0, maxTokens: 32, ...(format && { format }) };
    for await (const event of model.chat(request)) if (event.type === "text") text += event.text;
    return text;
  };
  try {
    const schema = {
      type: "object",
      properties: { city: { type: "string", maxLength: 12 }, warm: { type: "boolean" } },
      required: ["city", "warm"],
    };
    const [vector] = await model.embed(["a mill by the river"]);
    return {
      chat: await ask("Hello, who are you?"),
      document: await ask("Name a warm city.", { schema }),
      vector: [...vector!.subarray(0, 4)],
    };
  } finally {
    await model.close();
  }
}
