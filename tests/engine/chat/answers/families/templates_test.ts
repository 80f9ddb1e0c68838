// Every chat template of the conformance data: which family it is of, and that a call as the
// template writes it in a conversation, which is how its models answer, is read as the same call.

import { detectAnswerFormat } from "../../../../../engine/chat/answers/answer_format.ts";
import type { ThinkingMarks } from "../../../../../engine/chat/answers/types.ts";
import { createChatTemplate } from "../../../../../tokenizer/mod.ts";
import { matches } from "./grammar_match.ts";
import { readAnswer } from "./read_answer.ts";
import { assert, assertEquals } from "@std/assert";

const FOLDER = new URL("../../../../../../shared/data/templates/", import.meta.url);

const ignore = !isThere(FOLDER);

const PARAMETERS = {
  type: "object",
  properties: {
    city: { type: "string", description: "Where" },
    days: { type: "integer", description: "How many" },
    deep: {
      type: "object",
      description: "More",
      properties: { list: { type: "array" } },
      additionalProperties: { type: "string" },
    },
  },
  required: ["city"],
};

const TOOLS = [{ name: "get_weather", parameters: PARAMETERS }];

const FIRST = { city: 'Pa"ris\n2', days: 3, deep: { list: [1, "x", true] } };

const SECOND = { city: "Rome" };

/**
 * Files by family. An asterisk: one call at a time. A dash: the template writes no calls, or only
 * with names that Jinja does not know in its macros. A tilde: values within values as Python writes
 * them, where the grammar has JSON.
 */
const FILES: Record<string, string> = {
  "apertus": "Apertus-8B-Instruct",
  "apriel": "Apriel-1.6-15b-Thinker-fixed unsloth-Apriel-1.5",
  "command-r": "CohereForAI-c4ai-command-r-plus-tool_use",
  "command-r7b": "CohereForAI-c4ai-command-r7b-12-2024-tool_use Cohere2MoE",
  "deepseek-v3": "deepseek-ai-DeepSeek-R1-Distill-Llama-8B " +
    "deepseek-ai-DeepSeek-R1-Distill-Qwen-32B llama-cpp-deepseek-r1",
  "deepseek-v3.1": "deepseek-ai-DeepSeek-V3.1",
  "deepseek-v3.2": "deepseek-ai-DeepSeek-V3.2",
  "deepseek-v4": "deepseek-ai-DeepSeek-V4 deepseek-ai-DeepSeek-V4-Flash-0731",
  "functionary-v3.1": "meetkai-functionary-medium-v3.1",
  "functionary-v3.2": "meetkai-functionary-medium-v3.2",
  "functools": "fireworks-ai-llama-3-firefunction-v2",
  "gemma4": "google-gemma-4-31B-it google-gemma-4-31B-it-interleaved",
  "gigachat-3": "GigaChat3-10B-A1.8B*",
  "gigachat-3.1": "GigaChat3.1-10B-A1.8B*",
  "glm": "GLM-4.7-Flash GLM-5.2 Spark2.5 poolside-Laguna-S-2.1",
  "glm-lines": "GLM-4.6 poolside-Laguna-XS-2.1 poolside-Laguna-XS.2",
  "granite3": "ibm-granite-granite-3.3-2B-Instruct-",
  "harmony": "openai-gpt-oss-120b*",
  "hermes": "Bielik-11B-v3.0-Instruct MiMo-VL NousResearch-Hermes-2-Pro-Llama-3-8B-tool_use " +
    "NousResearch-Hermes-3-Llama-3.1-8B-tool_use Qwen-QwQ-32B Qwen-Qwen2.5-7B-Instruct " +
    "Qwen-Qwen3-0.6B Reka-Edge ibm-granite-granite-4.0 ibm-granite-granite-4.1",
  "hunyuan": "tencent-Hy3",
  "kimi-k2": "Kimi-K2-Instruct Kimi-K2-Thinking moonshotai-Kimi-K2",
  "kimi-k3": "Kimi-K3",
  "lfm2": "LFM2-8B-A1B- LFM2.5-Instruct- LFM2.5-8B-A1B",
  "ling": "inclusionai-ling-3.0-flash",
  "llama3": "meta-llama-Llama-3.1-8B-Instruct* meta-llama-Llama-3.2-3B-Instruct* " +
    "meta-llama-Llama-3.3-70B-Instruct*",
  "minicpm": "openbmb-MiniCPM5-1B~",
  "minimax-m1": "MiniMax-M1",
  "minimax-m2": "MiniMax-M2",
  "minimax-m3": "MiniMax-M3",
  "miro-thinker": "MiroThinker-",
  mistral: "Mistral-Small-3.2-24B-Instruct-2506 mistralai-Ministral-3-14B-Reasoning-2512 " +
    "mistralai-Mistral-Nemo-Instruct-2407 unsloth-mistral-Devstral-Small-2507",
  muse: "muse-glimmer",
  "nemotron-nano": "NVIDIA-Nemotron-Nano-v2",
  "qwen-coder": "NVIDIA-Nemotron-3-Nano-30B-A3B-BF16 Qwen3-Coder Qwen3.5-4B StepFun3.5-Flash " +
    "stepfun-ai-Step-3.5-Flash",
  "seed": "ByteDance-Seed-OSS~",
  "solar": "upstage-Solar-Open-100B",
  "plain": "HuggingFaceTB-SmolLM3-3B- google-gemma-2-2b-it- llama-cpp-rwkv-world- " +
    "microsoft-Phi-3.5-mini-instruct-",
};

/** Files of models that do not think. */
const WITHOUT_THINKING = new Set([
  "CohereForAI-c4ai-command-r-plus-tool_use",
  "GigaChat3-10B-A1.8B",
  "GigaChat3.1-10B-A1.8B",
  "Kimi-K2-Instruct",
  "LFM2-8B-A1B",
  "MiMo-VL",
  "Mistral-Small-3.2-24B-Instruct-2506",
  "NousResearch-Hermes-2-Pro-Llama-3-8B-tool_use",
  "NousResearch-Hermes-3-Llama-3.1-8B-tool_use",
  "Qwen-Qwen2.5-7B-Instruct",
  "Qwen3-Coder",
  "fireworks-ai-llama-3-firefunction-v2",
  "google-gemma-2-2b-it",
  "ibm-granite-granite-4.0",
  "ibm-granite-granite-4.1",
  "meetkai-functionary-medium-v3.1",
  "meetkai-functionary-medium-v3.2",
  "meta-llama-Llama-3.1-8B-Instruct",
  "meta-llama-Llama-3.2-3B-Instruct",
  "meta-llama-Llama-3.3-70B-Instruct",
  "microsoft-Phi-3.5-mini-instruct",
  "mistralai-Mistral-Nemo-Instruct-2407",
  "moonshotai-Kimi-K2",
  "unsloth-mistral-Devstral-Small-2507",
].map((file) => `${file}.jinja`));

const ROWS = Object.entries(FILES).flatMap(([family, files]) =>
  files.split(" ").map((entry) => ({
    family,
    file: `${entry.replace(/[*~-]$/, "")}.jinja`,
    isPython: entry.endsWith("~"),
    calls: entry.endsWith("-") ? [] : entry.endsWith("*") ? [FIRST] : [FIRST, SECOND],
  }))
);

for (const { family, file, calls, isPython } of ROWS) {
  Deno.test({
    name: `${file} is of the family ${family}`,
    ignore,
    fn() {
      const format = detectAnswerFormat(Deno.readTextFileSync(new URL(file, FOLDER)));
      assertEquals(format.name, family);
      assertEquals(format.thinking !== undefined, !WITHOUT_THINKING.has(file));
    },
  });
  if (calls.length === 0) continue;
  Deno.test({
    name: `${file} writes calls that its family reads and its grammar allows`,
    ignore,
    fn() {
      const template = Deno.readTextFileSync(new URL(file, FOLDER));
      const format = detectAnswerFormat(template);
      for (const thought of [undefined, "I wonder."]) {
        const { prompt, answer } = render(template, calls, format.thinking, thought);
        const expected = calls.map((members) => ["get_weather", members] as const);
        const hasThought = thought !== undefined && answer.includes(thought);
        for (const piece of [1, 5, answer.length]) {
          const read = readAnswer(format, prompt, answer, TOOLS, { piece });
          assertEquals(read.calls, expected, answer);
          assertEquals(read.thinking.trim(), hasThought ? thought : "", answer);
          // What is left are tokens that end the answer.
          assert(!/wonder|weather|city|Rome/.test(read.text), answer);
        }
        if (isPython) return;
        const request = { prompt, tools: TOOLS, choice: "auto", parallel: true } as const;
        const grammar = format.grammar(request)!.root;
        assert(matches(grammar, answer), `The grammar refuses ${answer}`);
      }
    },
  });
}

Deno.test({
  name: "every template of the conformance data is in the table",
  ignore,
  fn() {
    const files = [...Deno.readDirSync(FOLDER)].map(({ name }) => name);
    const expected = files.filter((name) => name.endsWith(".jinja")).sort();
    assertEquals(ROWS.map(({ file }) => file).sort(), expected);
  },
});

const END = /(?:<\|(?:call|eot|eot_id)\|>|<EOS>)$/;

/** A prompt, and the answer with calls as the template writes it after that. */
function render(
  source: string,
  calls: readonly unknown[],
  marks: ThinkingMarks | undefined,
  thinking: string | undefined,
): { prompt: string; answer: string } {
  const template = createChatTemplate(source, { bos: "<BOS>", eos: "<EOS>" });
  const user = { role: "user", content: "How is the weather?" };
  const toolCalls = (isText: boolean) =>
    calls.map((members, index) => ({
      type: "function",
      id: `abcdefgh${index}`,
      function: { name: "get_weather", arguments: isText ? JSON.stringify(members) : members },
    }));
  const tools = TOOLS.map((tool) => ({
    type: "function",
    function: { description: "Tells the weather.", ...tool },
  }));
  const thoughts = thinking === undefined ? {} : { thinking, reasoning_content: thinking };
  // What single templates want besides.
  const variables = { functions: JSON.stringify(tools), datetime: "today" };
  const write = (addGenerationPrompt: boolean, ...messages: unknown[]) =>
    template.render({ messages: [user, ...messages], tools, addGenerationPrompt, variables });
  const attempts = [false, true].flatMap((isText) =>
    ["", null].map((content) => () =>
      write(false, { role: "assistant", content, tool_calls: toolCalls(isText), ...thoughts })
    )
  );
  const whole = firstThat(attempts, (text) => text.includes("Rome") || calls.length === 1);
  // A prompt may end with thinking that has begun, or ended, and the conversation go on otherwise.
  const { open = "", close = "" } = marks ?? {};
  const [opened, closed] = [open, close].map((mark) => `(?:${RegExp.escape(mark.trim())}\\s*)?`);
  const begun = write(true).replace(new RegExp(`${opened}${closed}$`), "");
  const prompt = whole.startsWith(begun) ? begun : commonStart(write(false), whole);
  const answer = whole.slice(prompt.length);
  const begins = thinking === undefined ? answer.trimStart().startsWith(close) : true;
  const isThinking = close !== "" && begins && answer.includes(close) &&
    !answer.includes(open.trim());
  // Tokens that end a message, and the answer with it.
  return { prompt: prompt + (isThinking ? open : ""), answer: answer.replace(END, "") };
}

/** The first text that could be made and has what it should. */
function firstThat(attempts: (() => string)[], fits: (text: string) => boolean): string {
  let reason: unknown;
  for (const attempt of attempts) {
    try {
      const text = attempt();
      if (fits(text)) return text;
    } catch (error) {
      reason = error;
    }
  }
  throw reason ?? new Error("The template writes no calls");
}

function commonStart(a: string, b: string): string {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length++;
  return a.slice(0, length);
}

function isThere(url: URL): boolean {
  try {
    return Deno.statSync(url).isDirectory;
  } catch {
    return false;
  }
}
