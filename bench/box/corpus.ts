// Examples as the texts that the model sees: what is said to it, as the chat template writes it, and
// what it says, as the engine reads it. The same template is in the GGUF file, so that what is
// learnt is what is served.

import { type ChatTemplate, createChatTemplate } from "../../tokenizer/mod.ts";
import { Random } from "./random.ts";
import { writeJson } from "./skills/json.ts";
import { TAUGHT } from "./skills/mod.ts";
import type { Answer, Example, Split } from "./types.ts";

export const END_OF_TURN = "<|im_end|>";

/** What goes through the model's mind where a skill takes no thinking. */
const THOUGHTS: Record<string, string> = {
  about: "This is a question about Quern.",
  extraction: "I look for the facts in the text.",
  tools: "I look for a tool that fits.",
  language: "I mind the language and the length.",
  memory: "I remember what I am told.",
  chatter: "This is small talk.",
};

/** A part of a text, and whether the model says it. */
export interface Segment {
  text: string;
  said: boolean;
}

/** The template's source. */
export function readTemplate(): string {
  return Deno.readTextFileSync(new URL("./chat_template.jinja", import.meta.url));
}

/** Examples of all skills in their shares; the same seed, the same examples. */
export function* examples(seed: number, count: number, split: Split): Generator<Example> {
  const random = new Random(seed);
  const sum = TAUGHT.reduce((total, [, share]) => total + share, 0);
  for (let i = 0; i < count; i++) {
    let left = random.next() * sum;
    const [skill] = TAUGHT.find(([, share]) => (left -= share) < 0) ?? TAUGHT[0]!;
    const example = skill.example(random, split);
    yield random.chance(0.04) ? withThought(example, THOUGHTS[skill.name]) : example;
  }
}

/**
 * The first turn with a thought before its answer, for whoever asks for thinking where there is
 * little to think about. Later prompts leave thoughts out, so later turns go.
 */
function withThought(example: Example, thinking: string | undefined): Example {
  const [turn] = example.turns;
  if (!thinking || !turn || example.think !== undefined) return example;
  return { ...example, think: true, turns: [{ ...turn, answer: { thinking, ...turn.answer } }] };
}

/** Renders examples through the template. */
export class Renderer {
  readonly #template: ChatTemplate;

  constructor(source = readTemplate()) {
    this.#template = createChatTemplate(source, {});
  }

  /** The conversation in order; each answer ends with the mark of a turn's end. */
  render({ system, tools, think, turns }: Example): Segment[] {
    const messages: Record<string, unknown>[] = [];
    if (system !== undefined) messages.push({ role: "system", content: system });
    const segments: Segment[] = [];
    let text = "";
    for (const { user, toolResult, answer } of turns) {
      messages.push(
        user !== undefined
          ? { role: "user", content: user }
          : { role: "tool", content: toolResult },
      );
      const prompt = this.#template.render({
        messages,
        tools,
        addGenerationPrompt: true,
        variables: { enable_thinking: think ?? false },
      });
      if (!prompt.startsWith(text)) {
        throw new Error("Cannot render an example: a later prompt rewrites what came before");
      }
      const said = writeAnswer(answer) + END_OF_TURN;
      segments.push({ text: prompt.slice(text.length), said: false }, { text: said, said: true });
      text = prompt + said;
      messages.push(toMessage(answer));
    }
    return segments;
  }
}

/** What the model writes for an answer, after the opening that the template wrote. */
function writeAnswer({ thinking, text = "", call }: Answer): string {
  const thought = thinking === undefined ? "" : `${thinking}\n</think>\n\n`;
  if (!call) return thought + text;
  const args = writeJson(call.arguments);
  const words = text && `${text}\n`;
  return `${thought}${words}<tool_call>\n{"name": "${call.name}", "arguments": ${args}}\n</tool_call>`;
}

function toMessage({ text = "", call }: Answer): Record<string, unknown> {
  return {
    role: "assistant",
    content: text,
    ...call && { tool_calls: [{ type: "function", function: call }] },
  };
}
