// Chat templates of published models rendered by @huggingface/jinja as well: two readers of one language,
// written apart. Needs the conformance data in ../shared and is ignored where that does not exist.

import { Template } from "@huggingface/jinja";
import { assertEquals } from "@std/assert";
import { createChatTemplate } from "../../../tokenizer/mod.ts";

const FOLDER = new URL("../../../../shared/data/templates/", import.meta.url);

const ignore = !await Deno.stat(FOLDER).then((stat) => stat.isDirectory, () => false);

const TOOLS = [{
  type: "function",
  function: {
    name: "get_weather",
    description: "Weather of a city",
    parameters: {
      type: "object",
      properties: { city: { type: "string", description: "Where" } },
      required: ["city"],
    },
  },
}];

const QUESTION = { role: "user", content: "What's the weather in Zürich?" };

const CONVERSATIONS = {
  "a question": { messages: [QUESTION] },
  "a conversation": {
    messages: [
      QUESTION,
      { role: "assistant", content: "Fine & <warm>." },
      { role: "user", content: 'And in "Rome"?' },
    ],
  },
  "a question with a tool": { messages: [QUESTION], tools: TOOLS },
};

/** The library's text; undefined for a template that it cannot run. */
function byLibrary(template: Template, input: Record<string, unknown>): string | undefined {
  try {
    return template.render({
      bos_token: "<s>",
      eos_token: "</s>",
      add_generation_prompt: true,
      tools: null,
      documents: null,
      ...input,
    });
  } catch {
    return undefined;
  }
}

/** Renderings of the data that the library must be able to run, so that the test holds something. */
const LEAST_RENDERINGS = 180;

Deno.test({
  name: "chat templates give the texts that they give in @huggingface/jinja, where it can run them",
  ignore,
  fn() {
    let renderings = 0;
    const files = [...Deno.readDirSync(FOLDER)].map(({ name }) => name);
    for (const name of files.filter((name) => name.endsWith(".jinja")).sort()) {
      const source = Deno.readTextFileSync(new URL(name, FOLDER));
      const own = createChatTemplate(source, { bos: "<s>", eos: "</s>" });
      const theirs = new Template(source);
      for (const [what, input] of Object.entries(CONVERSATIONS)) {
        const expected = byLibrary(theirs, input);
        if (expected === undefined) continue;
        renderings++;
        const text = own.render({ ...input, addGenerationPrompt: true });
        assertEquals([name, what, text], [name, what, expected]);
      }
    }
    assertEquals(renderings >= LEAST_RENDERINGS, true, `${renderings} renderings`);
  },
});
