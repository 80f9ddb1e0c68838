// `deno task bench:agents URL MODEL [--turns 8] [--words 400]`: a day of agents in short,
// against a server that runs. Requests have the shapes of Claude Code (a line that changes, titles,
// subagents, a compaction), Codex, and Home Assistant with a clock before its devices or after them. What
// is said follows from a seed, so that two servers are asked the same. Prints, by kind of request, the
// tokens of prompts, those that were read, and the seconds until the answer was there.

import { parseArgs } from "node:util";
import { print } from "./report.ts";

const { values, positionals: [url, model] } = parseArgs({
  args: Deno.args,
  allowPositionals: true,
  options: {
    /** Turns of the main conversation. */
    turns: { type: "string", default: "8" },
    /** Words of the longest instructions, from which the other lengths follow. */
    words: { type: "string", default: "400" },
  },
});
const [turns, words] = [Number(values.turns), Number(values.words)] as [number, number];

interface Tally {
  requests: number;
  tokens: number;
  read: number;
  seconds: number;
}

const tallies = new Map<string, Tally>();
let state = 1;

function text(count: number): string {
  const stems = "file line test value read write list open close model cache token turn step".split(
    " ",
  );
  return Array.from({ length: count }, () => {
    state = Math.imul(state, 1103515245) + 12345 >>> 0;
    return stems[(state >>> 8) % stems.length];
  }).join(" ");
}

/** Tokens of prompts that were in the cache since the server began. */
async function cachedSoFar(): Promise<number> {
  const metrics = await (await fetch(`${url}/metrics`)).text();
  return Number(/^quern_cached_prompt_tokens_total (\d+)/m.exec(metrics)?.[1] ?? 0);
}

/** Sends a request, and counts what it took. Returns what the model said. */
async function ask(
  kind: string,
  path: string,
  body: object,
  headers: Record<string, string> = {},
): Promise<string> {
  const before = await cachedSoFar();
  const started = performance.now();
  const response = await fetch(`${url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ model, stream: false, ...body }),
  });
  const answer = await response.json();
  const seconds = (performance.now() - started) / 1000;
  if (!response.ok) throw new Error(`${kind}: ${response.status} ${JSON.stringify(answer)}`);
  const { usage = {} } = answer;
  // Ollama's API tells no count of these; its requests here come one by one.
  const cached = usage.cache_read_input_tokens ?? usage.input_tokens_details?.cached_tokens ??
    await cachedSoFar() - before;
  const tokens = answer.prompt_eval_count ??
    usage.input_tokens + (usage.cache_read_input_tokens ?? 0) +
      (usage.cache_creation_input_tokens ?? 0);
  const tally = tallies.get(kind) ?? { requests: 0, tokens: 0, read: 0, seconds: 0 };
  tally.requests++;
  tally.tokens += tokens;
  tally.read += tokens - cached;
  tally.seconds += seconds;
  tallies.set(kind, tally);
  return answer.message?.content ?? answer.content?.[0]?.text ??
    answer.output?.[0]?.content?.[0]?.text ??
    "";
}

const tools = (names: string[]) => names.map((name) => ({ name, description: text(12) }));
const none = { type: "object", properties: {} };

const claudeSystem = text(words);
const claudeTools = tools(["Read", "Edit", "Bash", "Grep"]).map((one) => ({
  ...one,
  input_schema: none,
}));
const session = { "x-claude-code-session-id": "day" };
let changes = 0;

/** A request of Claude Code: `system` after the line that differs in each. */
function claude(
  kind: string,
  system: string,
  messages: object[],
  { headers = {}, ...more }: { headers?: Record<string, string>; tools?: object[] } = {},
): Promise<string> {
  const billing = `x-anthropic-billing-header: cc_version=2.1.332; cch=${
    (changes++).toString(16)
  };`;
  return ask(kind, "/v1/messages", {
    max_tokens: 8,
    temperature: 0,
    system: [{ type: "text", text: billing }, { type: "text", text: system }],
    messages,
    ...more,
  }, { ...session, ...headers });
}

async function subagent(index: number): Promise<void> {
  const messages: object[] = [{ role: "user", content: `Look for ${index}: ${text(20)}` }];
  const system = `${text(words / 2)} ${index}`;
  for (let turn = 0; turn < 3; turn++) {
    const said = await claude("subagents", system, messages, {
      tools: claudeTools,
      headers: { "x-claude-code-agent-id": `a${index}` },
    });
    messages.push({ role: "assistant", content: said || "-" }, { role: "user", content: text(40) });
  }
}

async function codex(): Promise<void> {
  const instructions = text(words / 2);
  const input: object[] = [{ role: "user", content: text(20) }];
  const headers = { "session-id": "codex", "thread-id": "codex" };
  const codexTools = tools(["shell", "plan"]).map((one) => ({
    type: "function",
    ...one,
    parameters: none,
  }));
  for (let turn = 0; turn < 3; turn++) {
    const said = await ask("Codex", "/v1/responses", {
      instructions,
      input,
      tools: codexTools,
      max_output_tokens: 8,
      temperature: 0,
      prompt_cache_key: "codex",
    }, headers);
    input.push({ role: "assistant", content: said || "-" }, { role: "user", content: text(20) });
  }
}

/** A command to Home Assistant, whose devices hardly change from one to the next. */
function home(minute: number, devices: string, isLast: boolean): Promise<string> {
  const clock = `It is ${10 + Math.floor(minute / 60)}:${String(minute % 60).padStart(2, "0")}.`;
  const [system, user] = isLast ? [devices, `${clock}\n`] : [`${clock}\n${devices}`, ""];
  return ask(`Home Assistant, clock ${isLast ? "last" : "first"}`, "/api/chat", {
    messages: [
      { role: "system", content: system },
      { role: "user", content: `${user}Turn on lamp ${minute}.` },
    ],
    options: { num_predict: 8, temperature: 0 },
  });
}

const devices = text(words);
const messages: object[] = [{ role: "user", content: text(30) }];
for (let turn = 0; turn < turns; turn++) {
  const besides: Promise<unknown>[] = [];
  // What comes beside the main conversation comes at the same moment.
  const main = claude("Claude Code", claudeSystem, messages, { tools: claudeTools });
  if (turn % 3 === 0) {
    besides.push(claude("titles", text(60), [{ role: "user", content: `Title: ${text(80)}` }]));
  }
  if (turn % 3 === 1) besides.push(subagent(turn));
  const said = await main;
  await Promise.all(besides);
  messages.push({ role: "assistant", content: said || "-" }, { role: "user", content: text(30) });
  for (const isLast of [false, true]) await home(7 * turn, devices, isLast);
  if (turn % 4 === 2) await codex();
}
await claude("compaction", claudeSystem, [
  ...messages,
  { role: "assistant", content: "-" },
  { role: "user", content: "Sum up the conversation." },
], { tools: claudeTools });

const rows = [...tallies].map(([kind, { requests, tokens, read, seconds }]) =>
  [kind, requests, tokens, read, seconds.toFixed(1)].join(" | ")
);
print(["requests of | number | tokens | read | seconds", ...rows].join("\n"));
const sum = (of: (tally: Tally) => number) =>
  [...tallies.values()].reduce((all, one) => all + of(one), 0);
print(
  `all | ${sum((one) => one.requests)} | ${sum((one) => one.tokens)} | ` +
    `${sum((one) => one.read)} | ${sum((one) => one.seconds).toFixed(1)}`,
);
