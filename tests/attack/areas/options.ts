// Options that are out of range, contradict each other or ask for what a machine does not have: each
// request gets a 400 that names the option, or an answer as long as it may be.

import { Draws } from "../../engine/grammar/fuzz/draws.ts";
import { type Area, type Case, recordsOf, type Trial } from "../trial.ts";
import { hostileValue } from "./texts.ts";

/** Requests with several options that are drawn. */
const RANDOM = 250;
const NAMES = [
  ...["temperature", "top_k", "top_p", "min_p", "typical_p", "seed", "num_predict", "num_ctx"],
  ...[
    "repeat_penalty",
    "repeat_last_n",
    "presence_penalty",
    "frequency_penalty",
    "stop",
    "num_gpu",
  ],
  ...["mirostat", "num_keep", "num_batch", "num_thread", "use_mmap", "nothing"],
];
/** Numbers at the edges of what the engine's types hold. */
const NUMBERS = [
  ...["0", "-0", "-1", "-2", "1", "2", "0.5", "1e-45", "1e-300", "1e38", "3.5e38", "1e300", "64"],
  ...["4.0", "40e-1", "1E0", "-0.0", "0.10", "1e400", "-1e400", "1e-400", "9007199254740993"],
  ...["2147483647", "2147483648", "-2147483648", "4294967295", "4294967296", "9007199254740991"],
];
/** Longest answer of a case that does not ask for more, in tokens. */
const SHORT = 6;
/** Seconds that a window of thousands of tokens explains: the model is loaded anew. */
const LOAD_SECONDS = 15;

function drawnOptions(draws: Draws): string {
  const members = Array.from({ length: draws.between(1, 6) }, () => {
    const value = draws.oneIn(3) ? hostileValue(draws) : draws.one(NUMBERS);
    return `${JSON.stringify(draws.one(NAMES))}:${value}`;
  });
  return members.join();
}

async function generate(trial: Trial, model: string, options: string, seconds?: number) {
  const body =
    `{"model":"${model}","prompt":"Hi","raw":true,"stream":false,"options":{${options}}}`;
  const path = "/api/generate";
  const answer = await trial.ask({ path, body, ...seconds !== undefined && { seconds } });
  const { status, text } = answer;
  trial.check(status <= 500 || status === 503, () => `${status} ${text} for ${options}`);
  return answer;
}

/** The number of tokens of an answer. */
function tokensOf(text: string): number {
  return Number(recordsOf(text).at(-1)?.eval_count ?? 0);
}

/** Windows, and prompts that do not fit them. */
function windows(): Case[] {
  const long = "one two three ".repeat(500);
  return [16, 64, 500].flatMap((window): Case[] => [
    {
      name: `a long prompt in a window of ${window}`,
      async run(trial) {
        const options = { num_ctx: window, num_predict: SHORT };
        const body = { model: "quern:tiny", prompt: long, stream: false, options };
        const { status, text } = await trial.ask({ path: "/api/generate", body, seconds: 15 });
        const count = Number(recordsOf(text)[0]?.prompt_eval_count ?? 0);
        trial.check(
          status === 400 || count <= window,
          () => `${status}, ${count} tokens of prompt`,
        );
      },
    },
    {
      name: `a long prompt in a window of ${window} that is not to be cut`,
      async run(trial) {
        const options = { num_ctx: window, num_predict: SHORT };
        const body = { model: "quern:tiny", prompt: long, stream: false, options, truncate: false };
        const { status } = await trial.ask({ path: "/api/generate", body });
        trial.check(status === 400, () => `${status}, where it is to be refused`);
      },
    },
  ]);
}

/** Options and the windows they ask for. */
export const options: Area = {
  name: "options",
  weight: 2,
  cases({ seed, count }) {
    const random = Array.from({ length: count(RANDOM) }, (_, index): Case => {
      const own = seed * 10_000 + index;
      return {
        name: `options that are drawn, ${own}`,
        async run(trial) {
          const draws = new Draws(own);
          const drawn = drawnOptions(draws);
          const limit = `"num_predict":${SHORT}`;
          // The last of two equal names counts.
          const isLong = draws.oneIn(8);
          const all = isLong ? `${limit},${drawn}` : `${drawn},${limit}`;
          const isLoad = all.includes("num_ctx");
          const seconds = (isLong ? 30 : 5) + (isLoad ? LOAD_SECONDS : 0);
          const { status, text } = await generate(trial, "tiny", all, seconds);
          const tokens = tokensOf(text);
          trial.check(isLong || status !== 200 || tokens <= SHORT, () => `${tokens} tokens`);
        },
      };
    });
    return [...random, ...windows()];
  },
};
