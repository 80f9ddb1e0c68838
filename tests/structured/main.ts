// `deno task test:structured [NAME...] [--seed N] [--url URL]`: twenty schemas by seven routes at the
// temperatures 0 and 1, asked of the model in the box, in this process or at a server's URL. Prints a line
// for each route, and what is wrong with answers; names pick schemas or routes.

import { parseArgs } from "node:util";
import { createBoxApp } from "../server/tiny_app.ts";
import { judge, type Send } from "./judge.ts";
import { ROUTES } from "./routes.ts";
import { QUESTIONS } from "./schemas.ts";

/** Questions that are asked at the same time. */
const AT_ONCE = 8;

const { values, positionals } = parseArgs({
  args: Deno.args,
  allowPositionals: true,
  options: { seed: { type: "string", default: "1" }, url: { type: "string" } },
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

print("route                        t  answers  right  tokens  closed  longest");
const faults: string[] = [];
let answers = 0;
for (const route of ROUTES) {
  for (const temperature of [0, 1]) {
    const waiting = QUESTIONS.map((question, at) => ({ question, at }))
      .filter(({ question }) => picks(question.name) || picks(route.name));
    if (waiting.length === 0) continue;
    let [right, tokens, closed, longest] = [0, 0, 0, 0];
    const asked = waiting.length;
    const work = async () => {
      for (let next = waiting.shift(); next; next = waiting.shift()) {
        const seed = Number(values.seed) + next.at;
        const verdict = await judge(send, route, next.question, temperature, seed);
        const { answer, closedTokens, fault } = verdict;
        if (fault === undefined) right++;
        else {faults.push(
            `${route.name}, ${next.question.name}, temperature ${temperature}: ${fault}`,
          );}
        tokens += answer?.tokens ?? 0;
        closed += closedTokens;
        if (answer && closedTokens > 0) longest = Math.max(longest, answer.tokens / closedTokens);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    answers += asked;
    const numbers = [asked, right, tokens, closed].map(String);
    const widths = [9, 7, 8, 8];
    print(
      route.name.padEnd(27) + String(temperature).padStart(3) +
        numbers.map((value, at) => value.padStart(widths[at]!)).join("") +
        longest.toFixed(2).padStart(9),
    );
  }
}
for (const fault of faults) print(fault);
print(`${answers} answers, ${faults.length} of them wrong`);
Deno.exit(faults.length === 0 ? 0 : 1);
