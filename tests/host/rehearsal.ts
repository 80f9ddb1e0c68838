// What is asked of the library wherever it is tried. The function uses nothing but its argument, so that
// its text can be run in Node, in Bun and in a page.

import type * as library from "../../mod.ts";

/** Answers that are always the same. */
export interface Answers {
  /** What quern:tiny says in a conversation. */
  readonly chat: string;
  /** A document of a schema. */
  readonly document: string;
  /** A vector of a text, of which the first numbers are here. */
  readonly vector: number[];
  /** The shape of what was captured inside the model, and its first numbers. */
  readonly captured: { readonly shape: readonly number[]; readonly values: number[] };
}

/** Asks a loaded quern:tiny, and closes it. */
export async function rehearse(model: library.ChatModel): Promise<Answers> {
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
    const { captured } = await model.run({ prompt: "Once", capture: ["residual.post[-1]"] });
    return {
      chat: await ask("Hello, who are you?"),
      document: await ask("Name a warm city.", { schema }),
      vector: [...vector!.subarray(0, 4)],
      captured: {
        shape: [...captured[0]!.shape],
        values: [...captured[0]!.values.subarray(0, 4)],
      },
    };
  } finally {
    await model.close();
  }
}

/** Loads quern:tiny from its bytes, by default on the CPU, on the thread that loads it. */
export async function loadTiny(
  { filesInMemory, loadModel }: Pick<typeof library, "filesInMemory" | "loadModel">,
  bytes: Uint8Array,
  device: library.DeviceOptions = { kind: "cpu", threads: 1 },
): Promise<library.Model> {
  const files = filesInMemory({ "tiny.gguf": bytes });
  return await loadModel("tiny.gguf", { files, contextLength: 512, maxSequences: 1, device });
}
