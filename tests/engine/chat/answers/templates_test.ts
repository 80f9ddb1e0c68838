// Answers as the templates of real models write them in conversations, which is how the models were
// taught to answer: streamed in pieces of bytes, they are the thinking, text and calls they were.

import { detectAnswerFormat } from "../../../../engine/chat/answers/answer_format.ts";
import type { AnswerFormat } from "../../../../engine/chat/answers/types.ts";
import { createChatTemplate } from "../../../../tokenizer/mod.ts";
import { bytePieces, joined, parsePieces, type Part, WEATHER } from "./streams.ts";
import { assertEquals } from "@std/assert";

const FOLDER = new URL("../../../../../shared/data/templates/", import.meta.url);

const ignore = !await Deno.stat(FOLDER).then((stat) => stat.isDirectory, () => false);

const FIRST = { city: 'Zürich "🌧"\n\\2', days: 3, more: { list: [1, "x", true, null] } };

const SECOND = { city: "Rome" };

const TOOLS = [{
  name: WEATHER.name,
  parameters: {
    type: "object",
    properties: {
      city: { type: "string", description: "Where" },
      days: { type: "integer", description: "How many" },
      more: { type: "object", description: "More" },
    },
    required: ["city"],
  },
}];

/** Templates by what their answers hold: how many calls at once, and whether text or thinking too. */
const ROWS: [file: string, family: string, calls: number, others: ("text" | "thinking")[]][] = [
  ["Bielik-11B-v3.0-Instruct", "hermes", 2, ["text", "thinking"]],
  ["MiMo-VL", "hermes", 2, ["text"]],
  ["NousResearch-Hermes-2-Pro-Llama-3-8B-tool_use", "hermes", 2, []],
  ["NousResearch-Hermes-3-Llama-3.1-8B-tool_use", "hermes", 2, []],
  ["Qwen-QwQ-32B", "hermes", 2, ["text"]],
  ["Qwen-Qwen2.5-7B-Instruct", "hermes", 2, ["text"]],
  ["Qwen-Qwen3-0.6B", "hermes", 2, ["text", "thinking"]],
  ["Reka-Edge", "hermes", 2, ["text"]],
  ["ibm-granite-granite-4.0", "hermes", 2, ["text"]],
  ["ibm-granite-granite-4.1", "hermes", 2, ["text"]],
  ["NVIDIA-Nemotron-3-Nano-30B-A3B-BF16", "qwen-coder", 2, ["text", "thinking"]],
  ["Qwen3-Coder", "qwen-coder", 2, ["text"]],
  ["Qwen3.5-4B", "qwen-coder", 2, ["text", "thinking"]],
  ["StepFun3.5-Flash", "qwen-coder", 2, ["text", "thinking"]],
  ["stepfun-ai-Step-3.5-Flash", "qwen-coder", 2, ["text", "thinking"]],
  ["meta-llama-Llama-3.1-8B-Instruct", "llama3", 1, []],
  ["meta-llama-Llama-3.2-3B-Instruct", "llama3", 1, []],
  ["meta-llama-Llama-3.3-70B-Instruct", "llama3", 1, []],
  ["Mistral-Small-3.2-24B-Instruct-2506", "mistral", 2, []],
  ["mistralai-Ministral-3-14B-Reasoning-2512", "mistral", 2, ["text"]],
  ["mistralai-Mistral-Nemo-Instruct-2407", "mistral", 2, []],
  ["unsloth-mistral-Devstral-Small-2507", "mistral", 2, ["text"]],
];

for (const [file, family, count, others] of ROWS) {
  for (const kinds of [[], ...others.length > 0 ? [others] : []]) {
    const name = [...kinds, "calls"].join(" and ");
    Deno.test({
      name: `answers of ${file} with ${name} are read as they were written`,
      ignore,
      fn() {
        const source = Deno.readTextFileSync(new URL(`${file}.jinja`, FOLDER));
        const format = detectAnswerFormat(source);
        assertEquals(format.name, family);
        const calls = [FIRST, SECOND].slice(0, count);
        const message = {
          role: "assistant",
          content: kinds.includes("text") ? "Let me see." : "",
          ...kinds.includes("thinking") && { reasoning_content: "Hm, <rain>?" },
          tool_calls: calls.map((members, index) => ({
            type: "function",
            id: `abcdefgh${index}`,
            function: { name: WEATHER.name, arguments: members },
          })),
        };
        check(format, renderAnswer(source, message), [
          ...kinds.toSorted().reverse().map((kind) =>
            kind === "text" ? "Let me see." : "Hm, <rain>?"
          ),
          ...calls,
        ]);
      },
    });
  }
}

/** Whether an answer holds these things, however it is cut. */
function check(
  format: AnswerFormat,
  { prompt, answer }: { prompt: string; answer: string },
  expected: unknown[],
): void {
  for (const size of [1, 3, 7]) {
    for (const streaming of [false, true]) {
      const options = { prompt, tools: TOOLS, streaming };
      const parts = joined(parsePieces(format, bytePieces(answer, size), options));
      assertEquals(parts.map(contentOf), expected, answer);
    }
  }
}

/** The text of a part, or its arguments, which must be those of the JSON that was given out. */
function contentOf(part: Part): unknown {
  // Reka's prompt ends before the space that begins an answer.
  if ("text" in part) return part.text.trimStart();
  if ("thinking" in part) return part.thinking.trimEnd();
  assertEquals(JSON.parse(part.json), part.arguments);
  return part.arguments;
}

/** A prompt, and what a template writes for an answer behind it, up to the token that ends it. */
function renderAnswer(source: string, message: unknown): { prompt: string; answer: string } {
  const template = createChatTemplate(source, { bos: "<BOS>", eos: "<EOS>" });
  const messages = [{ role: "user", content: "How is the weather?" }];
  const tools = TOOLS.map((tool) => ({
    type: "function",
    function: { description: "Tells the weather.", ...tool },
  }));
  const begun = template.render({ messages, tools, addGenerationPrompt: true });
  const whole = template.render({ messages: [...messages, message], tools });
  // Thinking that the prompt began may have been left out of the conversation.
  const prompt = [begun, begun.replace(/(?:<think>|\[THINK\])\s*(?:<\/think>\s*)?$/, "")]
    .find((start) => whole.startsWith(start));
  if (prompt === undefined) throw new Error(`The prompt does not begin ${whole}`);
  const answer = whole.slice(prompt.length);
  return {
    prompt,
    answer: answer.replace(
      /(?:<\|im_end\|>|<\|eot_id\|>|<\|end_of_text\|>|<EOS>|\n\n<sep>)\s*$/,
      "",
    ),
  };
}
