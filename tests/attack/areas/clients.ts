// Many clients at once, some of which hang up: every answer equals the one that was given alone,
// nothing remains of clients that left, and the server's memory does not grow.

import { Draws } from "../../engine/grammar/fuzz/draws.ts";
import { Server } from "../server.ts";
import { type Area, type Case, recordsOf, type Trial, type World } from "../trial.ts";

const CLIENTS = 64;
/** Answers of all clients together. */
const ANSWERS = 1047;
/** Number of requests after which memory is compared, in rounds. */
const REQUESTS = 2000;
const ROUNDS = 4;
/** Growth of a round that counts as none, because a heap grows between two collections. */
const GROWTH = 24 * 2 ** 20;
/** Seconds that a client may wait behind 63 others. */
const TURN_SECONDS = 60;

interface Question {
  path: string;
  body: Record<string, unknown>;
}

/** Questions with one answer each, of both models and in all dialects. */
function questions(): Question[] {
  const options = { temperature: 0, num_predict: 8 };
  const format = { type: "object", properties: { a: { type: "integer" } }, required: ["a"] };
  return ["quern:tiny", "tiny"].flatMap((model) =>
    [0, 1, 2].flatMap((number): Question[] => {
      const prompt = `${"a story of ".repeat(number)}${number}`;
      const messages = [{ role: "user", content: prompt }];
      return [
        { path: "/api/generate", body: { model, prompt, raw: true, stream: false, options } },
        { path: "/api/generate", body: { model, prompt, raw: true, stream: true, options } },
        { path: "/api/chat", body: { model, messages, stream: false, options, format } },
        { path: "/v1/chat/completions", body: { model, messages, temperature: 0, max_tokens: 6 } },
        { path: "/v1/messages", body: { model, messages, temperature: 0, max_tokens: 6 } },
        { path: "/api/embed", body: { model, input: [prompt, "x"] } },
      ];
    })
  );
}

/** The content of an answer, without what differs between equal answers. */
function saidIn(text: string): string {
  return JSON.stringify(
    recordsOf(text).map((record) => {
      const { response, message, choices, content, embeddings } = record;
      const rounded = (embeddings as number[][] | undefined)?.map((vector) => {
        return vector.map((value) => value.toFixed(3));
      });
      const said = [response, message, choices, content, rounded];
      // The names of tool calls are random.
      return said;
    }),
  ).replace(/"id":"[^"]*"/g, "");
}

/** The content of a stream's pieces together. */
function joined(text: string): string {
  const records = recordsOf(text);
  if (records.length < 2) return saidIn(text);
  return records.map(({ response }) => response).join("");
}

/** Asks each question alone. */
async function answersAlone(trial: Trial, all: readonly Question[]): Promise<string[]> {
  const answers: string[] = [];
  for (const question of all) {
    const { status, text } = await trial.ask({ ...question, seconds: 20 });
    trial.check(status === 200, () => `${question.path}: ${status} ${text}`);
    answers.push(joined(text));
  }
  return answers;
}

/** 64 clients ask one question after the other; every fifth time one hangs up. */
function crowd({ seed, count }: World): Case {
  return {
    name: `${CLIENTS} clients, of which some hang up`,
    isUnwatched: true,
    async run(trial) {
      const all = questions();
      const alone = await answersAlone(trial, all);
      const wanted = count(ANSWERS);
      let answered = 0;
      const client = async (number: number) => {
        const draws = new Draws(seed * 100 + number);
        while (answered < wanted) {
          const index = draws.below(all.length);
          const question = all[index]!;
          if (draws.oneIn(5)) {
            await trial.ask({ ...question, hangUpAfter: draws.between(1, 400) / 1000 });
            continue;
          }
          const { status, text } = await trial.ask({ ...question, seconds: TURN_SECONDS });
          if (status === 503) continue;
          answered++;
          const said = joined(text);
          trial.check(status === 200 && said === alone[index], () => {
            return `${JSON.stringify(question)}: ${status} ${said}, alone ${alone[index]}`;
          });
        }
      };
      await Promise.all(Array.from({ length: CLIENTS }, (_, number) => client(number)));
      await nothingLeft(trial, trial.server);
      return answered + all.length;
    },
  };
}

async function nothingLeft(trial: Trial, server: Server): Promise<void> {
  const metrics = await (await fetch(`${server.url}/metrics`)).text();
  const queue = /^quern_queue_length (\d+)$/m.exec(metrics)?.[1];
  trial.check(queue === "0", () => `${queue} requests wait though all have gone`);
}

/** Small requests in rounds, until one of them costs no memory. */
function flatMemory({ count, seed }: World): Case {
  return {
    name: `memory over ${REQUESTS} requests`,
    isUnwatched: true,
    async run(trial) {
      const all = questions().map((question) => ({
        ...question,
        body: { ...question.body, ...(question.body.max_tokens ? { max_tokens: 1 } : {}) },
      }));
      const draws = new Draws(seed);
      const perRound = Math.ceil(count(REQUESTS) / ROUNDS);
      const growths: number[] = [];
      for (let round = 0; round < ROUNDS; round++) {
        const before = trial.server.memory();
        for (let done = 0; done < perRound; done += 8) {
          await Promise.all(Array.from({ length: 8 }, () => {
            const question = draws.one(all);
            const hangUpAfter = draws.oneIn(4) ? draws.between(1, 100) / 1000 : undefined;
            return trial.ask({
              ...question,
              seconds: TURN_SECONDS,
              ...hangUpAfter !== undefined && { hangUpAfter },
            });
          }));
        }
        growths.push(trial.server.memory() - before);
      }
      const isFlat = growths.slice(1).some((growth) => growth <= GROWTH);
      trial.check(isFlat, () => {
        return `it grew by ${growths.map((growth) => (growth / 2 ** 20).toFixed(0))} MiB`;
      });
      return perRound * ROUNDS;
    },
  };
}

/** Loads and unloads of models while others talk. */
function unloads({ draws, count }: World): Case[] {
  return Array.from({ length: count(12) }, (_, index): Case => {
    const delay = draws.between(0, 1500);
    return {
      name: `a model is unloaded after ${delay} ms, ${index}`,
      async run(trial) {
        const options = { temperature: 0, num_predict: 60 };
        const body = { model: "tiny", prompt: "a b", raw: true, stream: false, options };
        const long = [1, 2, 3].map(() => trial.ask({ path: "/api/generate", body, seconds: 20 }));
        await new Promise((done) => setTimeout(done, delay));
        const none = { model: "tiny", keep_alive: 0 };
        await trial.ask({ path: "/api/generate", body: none, seconds: 20 });
        for (const { status, text } of await Promise.all(long)) {
          trial.check([200, 503].includes(status), () => `${status} ${text}`);
        }
      },
    };
  });
}

/** Models in processes of their own, each of which is killed while nobody uses it. */
function kills({ folder, count }: World): Case {
  return {
    name: "processes of idle models are killed",
    isUnwatched: true,
    async run(trial) {
      await using server = await Server.start({
        folder,
        environment: { QUERN_ISOLATION: "process" },
      });
      const all = questions().filter(({ body }) => body.model === "tiny");
      const wanted = count(all.length);
      await trial.ask({ ...all[0]!, seconds: 30 }, server);
      for (const question of all.slice(0, wanted)) {
        for (const pid of childrenOf(server.pid)) Deno.kill(pid, "SIGKILL");
        const { status, text } = await trial.ask({ ...question, seconds: 30 }, server);
        trial.check(status === 200, () => `then ${question.path}: ${status} ${text}`);
      }
      return wanted;
    },
  };
}

/** The processes that a process has started; none where the system does not say. */
function childrenOf(pid: number): number[] {
  try {
    const text = Deno.readTextFileSync(`/proc/${pid}/task/${pid}/children`);
    return text.split(" ").filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

/**
 * Streams of which a client reads the beginning: others, who have the model loaded otherwise, do not
 * wait for it.
 */
const slowReaders: Case = {
  name: "clients that hardly read, and others with other options",
  isUnwatched: true,
  async run(trial) {
    const slow = await Promise.all(Array.from({ length: 3 }, async () => {
      const options = { temperature: 0, num_predict: 200, ignore_eos: true };
      const body = JSON.stringify({ model: "tiny", prompt: "a b", raw: true, options });
      const url = `${trial.server.url}/api/generate`;
      const response = await fetch(url, { method: "POST", body });
      const reader = response.body!.getReader();
      await reader.read();
      return reader;
    }));
    for (const num_batch of [8, 16]) {
      const options = { temperature: 0, num_predict: 2, num_batch };
      const body = { model: "tiny", prompt: "a b", raw: true, stream: false, options };
      const { status, text } = await trial.ask({ path: "/api/generate", body, seconds: 20 });
      trial.check(status === 200, () => `num_batch ${num_batch}: ${status} ${text}`);
    }
    for (const reader of slow) {
      let text = "";
      for (let next; !(next = await reader.read()).done;) {
        text += new TextDecoder().decode(next.value);
      }
      trial.check(text.includes('"done":true'), () => `its own answer: ${text.slice(-200)}`);
    }
    return 5;
  },
};

/** A window that one request names is its own, in whatever order they come. */
function windows({ draws, count }: World): Case[] {
  return Array.from({ length: count(12) }, (_, index): Case => {
    const named = Array.from({ length: 6 }, () => draws.one([undefined, 16, 24, 32]));
    return {
      name: `windows that requests name, ${index}`,
      isUnwatched: true,
      async run(trial) {
        for (const num_ctx of named) {
          const options = {
            temperature: 0,
            ignore_eos: true,
            ...(num_ctx === undefined ? { num_predict: 40 } : { num_ctx, num_predict: -1 }),
          };
          const body = { model: "tiny", prompt: "abcdefgh", raw: true, stream: false, options };
          const { status, text } = await trial.ask({ path: "/api/generate", body, seconds: 20 });
          trial.check(status === 200, () => `${named}: ${status} ${text}`);
          if (status !== 200) continue;
          const { prompt_eval_count: read, eval_count: written } = JSON.parse(text);
          const isRight = num_ctx === undefined ? written === 40 : read + written === num_ctx;
          trial.check(isRight, () => `num_ctx ${num_ctx} of ${named}: ${read} + ${written} tokens`);
        }
        return named.length;
      },
    };
  });
}

/** Clients. */
export const clients: Area = {
  name: "clients",
  weight: 3,
  cases: (world) => [
    crowd(world),
    flatMemory(world),
    kills(world),
    ...unloads(world),
    slowReaders,
    ...windows(world),
  ],
};
