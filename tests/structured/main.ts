// `deno task test:structured [NAME...] [--limits] [--seed N] [--url URL]`: twenty schemas by seven routes at
// the temperatures 0 and 1, asked of the model in the box, in this process or at a server's URL. With
// --limits sixty schemas with limits of tokens from 1 on, streamed and not. Prints a line for each route,
// and what is wrong with answers; names pick schemas or routes.

import { parseArgs } from "node:util";
import { createBoxApp } from "../server/tiny_app.ts";
import { judge, type Send } from "./judge.ts";
import { judgeLimit, limitedQuestions, LIMITS } from "./limits.ts";
import { ROUTES } from "./routes.ts";
import { QUESTIONS } from "./schemas.ts";

/** Questions that are asked at the same time. */
const AT_ONCE = 8;

const { values, positionals } = parseArgs({
  args: Deno.args,
  allowPositionals: true,
  options: {
    limits: { type: "boolean", default: false },
    seed: { type: "string", default: "1" },
    url: { type: "string" },
  },
});
const print = (text: string) => Deno.stdout.writeSync(new TextEncoder().encode(text + "\n"));
const picks = (name: string) =>
  positionals.length === 0 || positionals.some((part) => name.includes(part));

const send: Send = values.url === undefined
  ? await inProcess()
  : (path, init) => fetch(new URL(path, values.url), init);

async function inProcess(): Promise<Send> {
  const { app } = await createBoxApp();
  return async (path, init) => await app.request(path, init);
}

const faults: string[] = [];
const answers = await (values.limits ? askWithLimits() : askForAll());
for (const fault of faults) print(fault);
print(`${answers} answers, ${faults.length} of them wrong`);
Deno.exit(faults.length === 0 ? 0 : 1);

/** Does something with each of these, several at once. */
async function forEach<Item>(items: Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const next = async () => {
    for (let item = items.shift(); item; item = items.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, next));
}

/** Asks all questions by all routes for their whole answers. Result: how many. */
async function askForAll(): Promise<number> {
  print("route                        t  answers  right  tokens  closed  longest");
  let answers = 0;
  for (const route of ROUTES) {
    for (const temperature of [0, 1]) {
      const asked = QUESTIONS.map((question, at) => ({ question, at }))
        .filter(({ question }) => picks(question.name) || picks(route.name));
      if (asked.length === 0) continue;
      answers += asked.length;
      let [right, tokens, closed, longest] = [0, 0, 0, 0];
      const count = asked.length;
      await forEach(asked, async ({ question, at }) => {
        const seed = Number(values.seed) + at;
        const { answer, closedTokens, fault } = await judge(
          send,
          route,
          question,
          temperature,
          seed,
        );
        if (fault === undefined) right++;
        else faults.push(`${route.name}, ${question.name}, temperature ${temperature}: ${fault}`);
        tokens += answer?.tokens ?? 0;
        closed += closedTokens;
        if (answer && closedTokens > 0) longest = Math.max(longest, answer.tokens / closedTokens);
      });
      const widths = [9, 7, 8, 8];
      const cells = [count, right, tokens, closed]
        .map((value, at) => String(value).padStart(widths[at]!));
      print(
        route.name.padEnd(27) + String(temperature).padStart(3) + cells.join("") +
          longest.toFixed(2).padStart(9),
      );
    }
  }
  return answers;
}

/** Asks all questions by all routes with each limit, one temperature each. Result: how many. */
async function askWithLimits(): Promise<number> {
  print(`${"route".padEnd(39)}answers  whole    cut refused`);
  const questions = limitedQuestions(Number(values.seed));
  let answers = 0;
  for (const route of ROUTES) {
    for (const stream of [false, true]) {
      const asks = questions.filter(({ name }) => picks(name) || picks(route.name))
        .flatMap((question, at) =>
          LIMITS.map((maxTokens, step) => {
            const seed = Number(values.seed) + at + step;
            return { question, ask: { maxTokens, temperature: seed % 2, seed, stream } };
          })
        );
      const counts = { whole: 0, cut: 0, refused: 0 };
      const asked = asks.length;
      if (asked === 0) continue;
      answers += asked;
      await forEach(asks, async ({ question, ask }) => {
        const { kind, fault } = await judgeLimit(send, route, question, ask);
        counts[kind]++;
        if (fault === undefined) return;
        const about = `${question.name}, ${ask.maxTokens} tokens, seed ${ask.seed}`;
        faults.push(`${route.name}${stream ? ", streamed" : ""}, ${about}: ${fault}`);
      });
      const cells = [asked, counts.whole, counts.cut, counts.refused];
      print(
        `${route.name}${stream ? ", streamed" : ""}`.padEnd(38) +
          cells.map((value) => String(value).padStart(8)).join(""),
      );
    }
  }
  return answers;
}
