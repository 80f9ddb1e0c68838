// `deno task box:eval [COUNT] [MODEL] [--misses] [--seed=N]`: what the model in the box can do, on
// held-out prompts through the HTTP API of the server at OLLAMA_HOST. Prints the table of its model
// card; with another seed, that of other prompts.

import { parseArgs } from "node:util";
import { type Ask, evaluate, formatScores, type Miss } from "./evaluate.ts";
import type { Answer } from "./types.ts";

if (import.meta.main) {
  const { values, positionals: [count = "200", model = "quern:tiny"] } = parseArgs({
    options: { misses: { type: "boolean" }, seed: { type: "string" } },
    allowPositionals: true,
  });
  const host = Deno.env.get("OLLAMA_HOST") ?? "127.0.0.1:11434";
  const ask = askOverHttp(`http://${host}`, model);
  const seed = values.seed === undefined ? undefined : wholeNumber("--seed", values.seed);
  const examples = wholeNumber("COUNT", count);
  const scores = await evaluate(ask, examples, values.misses ? showMiss : undefined, seed);
  print(formatScores(scores));
}

function wholeNumber(name: string, value: string): number {
  if (!/^\d+$/.test(value)) {
    throw new RangeError(`Cannot evaluate: ${name} is ${value}, not a number`);
  }
  return Number(value);
}

function showMiss({ name, question, answer, expected }: Miss): void {
  const last = question.messages.at(-1)!;
  print(`${name}: ${last.content}\n  ${text(answer)}\n  not ${text(expected)}\n`);
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
