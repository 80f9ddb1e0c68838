// `deno task box:eval [COUNT] [MODEL] [--misses]`: what the model in the box can do, on held-out
// prompts through the HTTP API of the server at OLLAMA_HOST. Prints the table of its model card.

import { type Answer, type Ask, evaluate, formatScores } from "../engine/box/mod.ts";

const host = Deno.env.get("OLLAMA_HOST") ?? "127.0.0.1:11434";
const args = Deno.args.filter((argument) => !argument.startsWith("--"));
const [count = "200", model = "quern:tiny"] = args;

if (import.meta.main) {
  const scores = await evaluate(askOverHttp(`http://${host}`, model), Number(count), (miss) => {
    if (!Deno.args.includes("--misses")) return;
    const last = miss.question.messages.at(-1)!;
    print(`${miss.name}: ${last.content}\n  ${text(miss.answer)}\n  not ${text(miss.expected)}\n`);
  });
  print(formatScores(scores));
}

/** Asks through /api/chat, greedily. */
export function askOverHttp(base: string, model: string, send: typeof fetch = fetch): Ask {
  return async ({ messages, tools, think, format }) => {
    const body = {
      model,
      stream: false,
      options: { temperature: 0, num_predict: 200 },
      messages: messages.map(({ role, content, toolCalls }) => ({
        role,
        content,
        ...toolCalls && { tool_calls: toolCalls },
      })),
      ...tools && { tools },
      ...think !== undefined && { think },
      ...format && { format },
    };
    const response = await send(`${base}/api/chat`, { method: "POST", body: JSON.stringify(body) });
    const record = await response.json();
    if (!response.ok) throw new Error(`Cannot ask ${model}: ${record.error}`);
    const { content, thinking, tool_calls: calls } = record.message;
    const answer: Answer = {};
    if (thinking) answer.thinking = thinking;
    if (content) answer.text = content;
    if (calls?.[0]) answer.call = calls[0].function;
    return answer;
  };
}

function text(answer: Answer): string {
  return JSON.stringify(answer);
}

function print(line: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(line));
}
