// A model that says what a test wants, token by token, through everything from the template to the
// events of a chat. Where a mask holds the answer, a token that it forbids fails the test.

import { detectAnswerFormat } from "../../../engine/chat/answers/answer_format.ts";
import { chat, type ChatContext, chatPrompt } from "../../../engine/chat/chat.ts";
import type { ChatEvent, ChatRequest } from "../../../engine/mod.ts";
import { type Scheduler, Sequence } from "../../../engine/run/mod.ts";
import type { SequenceRequest } from "../../../engine/run/sequence.ts";
import { createChatTemplate, createTokenizer } from "../../../tokenizer/mod.ts";
import { byteCharacters, bytePairs, kind, type Piece } from "../../tokenizer/vocabularies.ts";
import { type Answer, readAnswer } from "../harness.ts";

/** A template whose models think, and call tools as Hermes does. */
export const CHATML = `{% for m in messages %}<|im_start|>{{ m.role }}
{% if m.thinking %}<think>
{{ m.thinking | trim }}
</think>

{% endif %}{{ m.content | trim }}{% for call in m.tool_calls or [] %}<tool_call>
{"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments | tojson }}}
</tool_call>{% endfor %}<|im_end|>
{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant
{% if enable_thinking %}<think>
{% endif %}{% endif %}`;

const END = "<|im_end|>";

/** What a scripted model has and says. */
export interface Script {
  /** Jinja. Default: CHATML. */
  template?: string;
  /** Tokens in the order in which they come, each a text. Default: none. */
  says?: readonly string[];
  /** Those of them that are control tokens, besides those of CHATML. */
  controls?: readonly string[];
  /** Default: 10,000. */
  contextLength?: number;
}

/** A model that runs once through its script, and then ends its answer. */
export function scripted(
  { template = CHATML, says = [], controls = [], contextLength = 10_000 }: Script = {},
): ChatContext {
  const marks = ["<|im_start|>", END, ...controls];
  const words = [...new Set(says)].filter((word) => !marks.includes(word));
  const encoder = new TextEncoder();
  const spell = (word: string) =>
    Array.from(encoder.encode(word), (byte) => byteCharacters[byte]).join("");
  const pieces = [
    ...marks.map((mark): Piece => [mark, kind.control]),
    ...words.map((word): Piece => [spell(word)]),
  ];
  const first = byteCharacters.length;
  const idOf = (word: string) =>
    first + (marks.includes(word) ? marks.indexOf(word) : marks.length + words.indexOf(word));
  const tokenizer = createTokenizer(
    bytePairs([], pieces, { "tokenizer.ggml.eos_token_id": idOf(END) }),
  );
  const tokens = [...says, END].map((word) => ({ word, id: idOf(word) }));
  const run = (request: SequenceRequest) => {
    request.begin?.(0, { fromMemory: 0, fromDisk: 0 });
    for (const [i, { word, id }] of tokens.entries()) {
      if (i === request.maxTokens) return request.end("length");
      const mask = request.constraint?.mask();
      if (mask && (mask[id >>> 5]! >>> (id & 31) & 1) === 0) {
        return request.end({ error: new Error(`The mask forbids ${JSON.stringify(word)}`) });
      }
      const logits = new Float32Array(tokenizer.vocabularySize);
      if (!request.accept(id, request.wantsLogits ? logits : undefined)) {
        return request.end("stop");
      }
    }
  };
  const scheduler: Pick<Scheduler, "add"> = {
    add(request) {
      queueMicrotask(() => run(request));
      return new Sequence(request);
    },
  };
  return {
    scheduler: scheduler as Scheduler,
    tokenizer,
    contextLength,
    template: createChatTemplate(template, {}),
    answers: detectAnswerFormat(template),
  };
}

/** The text of a request's prompt. */
export function promptOf(request: ChatRequest, script: Script = {}): string {
  const context = scripted(script);
  return context.tokenizer.decode(chatPrompt(context, request) as number[], { special: true });
}

/** The events of the answer to a request. */
export function eventsOf(request: ChatRequest, script: Script): AsyncIterable<ChatEvent> {
  return chat(scripted(script), request);
}

/** The answer to a request. */
export function answerOf(request: ChatRequest, script: Script): Promise<Answer> {
  return readAnswer(eventsOf(request, script));
}
