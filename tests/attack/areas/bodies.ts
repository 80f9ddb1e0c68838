// Bodies that are not requests, that are too large, or whose members are wrong: each gets a 4xx in
// time, or an answer, and no other client notices.

import { Draws } from "../../engine/grammar/fuzz/draws.ts";
import type { Area, Case, Trial, World } from "../trial.ts";
import { hostileText, hostileValue, nested, randomBytes } from "./texts.ts";

const MiB = 2 ** 20;
/** Number of bodies with random members. */
const RANDOM = 400;
/** Paths that take a body. */
const PATHS = [
  ...["/api/chat", "/api/generate", "/api/embed", "/api/embeddings", "/api/show", "/api/create"],
  ...["/api/copy", "/api/pull", "/api/push", "/v1/chat/completions", "/v1/completions"],
  ...["/v1/responses", "/v1/embeddings", "/v1/messages", "/v1/messages/count_tokens"],
];
const message = (content: unknown = "Hi") => ({ role: "user", content });

/** A valid body for each path that runs a model: few tokens, not streamed. */
export function soundBodies(model = "quern:tiny"): Record<string, Record<string, unknown>> {
  const messages = [message()];
  const options = { num_predict: 4, temperature: 0 };
  const native = { model, stream: false, options, keep_alive: "5m", truncate: true };
  return {
    "/api/chat": { ...native, messages, tools: [], think: false, format: null },
    "/api/generate": { ...native, prompt: "Hi", system: "", suffix: "", raw: false, context: [] },
    "/api/embed": { model, input: ["Hi"], truncate: true, dimensions: 8, options: {} },
    "/api/embeddings": { model, prompt: "Hi", options: {} },
    "/api/show": { model, verbose: true },
    "/v1/chat/completions": {
      ...{ model, messages, max_tokens: 4, temperature: 0, stream: false, stop: ["zz"], seed: 1 },
      ...{ top_p: 1, n: 1, logprobs: true, top_logprobs: 2, response_format: { type: "text" } },
    },
    "/v1/completions": { model, prompt: "Hi", max_tokens: 4, temperature: 0, logprobs: 1 },
    "/v1/responses": { model, input: "Hi", max_output_tokens: 16, temperature: 0, tools: [] },
    "/v1/embeddings": { model, input: ["Hi"], encoding_format: "float", dimensions: 8 },
    "/v1/messages": { model, max_tokens: 4, messages, system: "x", temperature: 0, top_k: 1 },
    "/v1/messages/count_tokens": { model, messages, system: "x" },
  };
}

/** Sends one body, which has to be refused. */
async function refused(trial: Trial, path: string, body: string | Uint8Array, seconds = 5) {
  const { status, text } = await trial.ask({ path, body, seconds });
  const isRefused = (status >= 400 && status <= 500) || status === 503;
  trial.check(
    isRefused || status === 0,
    () => `${path}: ${status} ${text.slice(0, 200)}, where 4xx is due`,
  );
}

const ofMessages = (rest: string) => `{"model":"quern:tiny","stream":false,"messages":[${rest}]}`;

/** Texts that are not JSON, and bodies that are not requests. */
function brokenBodies(draws: Draws): [string, string | Uint8Array][] {
  const sound = JSON.stringify(soundBodies()["/api/chat"]);
  const depth = draws.between(600, 3000);
  return [
    ["a cut body", sound.slice(0, draws.between(1, sound.length - 1))],
    ["two bodies", sound + sound],
    ["nothing", ""],
    ["spaces", " ".repeat(draws.between(1, 1000))],
    ["random bytes", randomBytes(draws, draws.between(1, 5000))],
    ["half a character", new TextEncoder().encode(`{"model":"é`).slice(0, -1)],
    ["brackets that do not end", "[".repeat(draws.between(600, 200_000))],
    ["100,000 brackets", nested(100_000)],
    ["objects in objects", '{"a":'.repeat(depth) + "1" + "}".repeat(depth)],
    ["nested messages", ofMessages(nested(depth))],
    ["a string that does not end", `"${hostileText(draws, 100_000)}`.replace(/\n/g, "")],
    ["a number of a megabyte", "9".repeat(MiB)],
    ["a key of a megabyte", `{"${"k".repeat(MiB)}":1}`],
    ["a million empty objects", `[${"{},".repeat(1e6)}{}]`],
    ["a million wrong messages", ofMessages(`${"{},".repeat(1e6)}{}`)],
    ["a million keys", `{${Array.from({ length: 1e6 }, (_, i) => `"${i}":0`).join()}}`],
  ];
}

/** 32 MiB of one thing, just below the limit of bodies. */
const LARGE: [string, () => string][] = [
  ["one text", () => ofMessages(`{"role":"user","content":"${"a".repeat(31 * MiB)}"}`)],
  ["numbers", () => `{"model":"quern:tiny","context":[${"1,".repeat(15 * MiB)}1]}`],
  ["brackets 500 deep", () => `{"model":1,"x":[${`${nested(500)},`.repeat(31_000)}1]}`],
  ["wrong messages", () => ofMessages(`${"{},".repeat(10 * MiB)}{}`)],
  ["escapes", () => ofMessages(`{"role":"user","content":"${"\\u0061".repeat(5 * MiB)}"}`)],
  ["short texts to embed", () => `{"model":"quern:tiny","input":[${'"a",'.repeat(7 * MiB)}"a"]}`],
  ["keys", () => `{${Array.from({ length: 2.5e6 }, (_, i) => `"${i}":0`).join()}}`],
];

/** Six bodies at once, each just below the limit. Some may be refused. */
async function sixLarge(trial: Trial, make: () => string): Promise<void> {
  const body = make();
  await Promise.all(Array.from({ length: 6 }, async (_, index) => {
    // A route that ignores messages, such as /api/generate, takes such a body for a request to
    // load.
    const chats = ["/api/chat", "/v1/chat/completions"];
    const path = body.includes('"input"') ? "/api/embed" : chats[index % 2]!;
    const { status } = await trial.ask({ path, body, seconds: 40 });
    trial.check(
      status >= 400 || status === 0,
      () => `${path}: ${status}, where 32 MiB are too much`,
    );
  }));
}

/** Replaces one member of a valid body. */
async function mutate(trial: Trial, path: string, draws: Draws): Promise<void> {
  const body = structuredClone(soundBodies(draws.one(["quern:tiny", "tiny"]))[path]!);
  const members: [object, string][] = [];
  const collect = (value: unknown) => {
    if (typeof value !== "object" || value === null) return;
    for (const [key, inner] of Object.entries(value)) {
      // A random name only tests that there is no such model.
      if (key !== "model" || draws.oneIn(4)) members.push([value, key]);
      collect(inner);
    }
  };
  collect(body);
  const [owner, key] = draws.one(members);
  const mark = "what comes here";
  Object.assign(owner, { [key]: mark });
  const text = JSON.stringify(body).replace(JSON.stringify(mark), () => hostileValue(draws));
  const { status } = await trial.ask({ path, body: text, seconds: 10 });
  trial.check(status <= 500, () => `${path}: ${status} for ${text.slice(0, 300)}`);
}

/** Faults that a reader of bodies meets before it knows the request. */
function wholeBodies({ draws }: World): Case[] {
  const broken = brokenBodies(draws).map(([name, body]): Case => {
    const path = draws.one(PATHS);
    return {
      name: `${name}, ${path}`,
      async run(trial) {
        await refused(trial, path, body);
        await refused(trial, "/api/chat", body);
        return 2;
      },
    };
  });
  const large = LARGE.flatMap(([name, make]): Case[] => [
    { name: `32 MiB of ${name}, six at once`, attackers: 6, run: (trial) => sixLarge(trial, make) },
    {
      name: `32 MiB of ${name}`,
      run: (trial) =>
        refused(trial, name.includes("embed") ? "/api/embed" : "/api/chat", make(), 15),
    },
  ]);
  const tooLarge: Case = {
    name: "100 MB",
    run: (trial) => refused(trial, "/v1/messages", new Uint8Array(100e6), 15),
  };
  return [...broken, ...large, tooLarge];
}

/** Valid bodies with too many members. */
const MANY: [string, string, () => Record<string, unknown>][] = [
  ["130,000 stop strings", "/api/generate", () => ({
    ...soundBodies()["/api/generate"],
    options: { num_predict: 8, stop: Array.from({ length: 130_000 }, (_, i) => `s${i}`) },
  })],
  ["a stop string of a megabyte", "/api/generate", () => ({
    ...soundBodies()["/api/generate"],
    options: { num_predict: 8, stop: ["x".repeat(1e6), "xx"] },
  })],
  ["4,000 short messages", "/api/chat", () => ({
    ...soundBodies()["/api/chat"],
    messages: Array.from({ length: 4000 }, (_, i) => ({
      role: i % 2 ? "assistant" : "user",
      content: `message ${i}`,
    })),
    options: { num_ctx: 64, num_predict: 4 },
  })],
  ["20,000 tools", "/api/chat", () => ({
    ...soundBodies("tiny")["/api/chat"],
    tools: Array.from({ length: 20_000 }, (_, i) => ({
      type: "function",
      function: { name: `f${i}`, parameters: { type: "object", properties: { a: {} } } },
    })),
  })],
  ["a million tokens of context", "/api/generate", () => ({
    ...soundBodies()["/api/generate"],
    context: Array(1e6).fill(1),
  })],
  ["tokens that are none", "/api/generate", () => ({
    ...soundBodies()["/api/generate"],
    context: [1e9, -1, 2 ** 31],
  })],
  ["5 MB of text to be cut", "/api/chat", () => ({
    ...soundBodies()["/api/chat"],
    messages: [message("word ".repeat(1e6))],
    options: { num_ctx: 64, num_predict: 4 },
  })],
  ["1 MB of text in one word", "/api/generate", () => ({
    ...soundBodies()["/api/generate"],
    prompt: "a".repeat(1e6),
    options: { num_ctx: 64, num_predict: 4 },
  })],
  ["a text of marks", "/v1/messages/count_tokens", () => ({
    model: "tiny",
    messages: [message("<|im_start|>".repeat(100_000))],
  })],
];

/** Names that no file can have, and such as should not be kept. */
const NAMES: [string, string][] = [
  ["300 letters", "a".repeat(300)],
  ["a path of 300 letters", `/${"a".repeat(300)}.gguf`],
  ["a path of 9,000", `${"/a".repeat(4500)}.gguf`],
  ["a NUL", "/tmp/a\0b.gguf"],
  ["a megabyte", "n".repeat(MiB)],
  ["a path of a megabyte", `/${"n".repeat(MiB)}.gguf`],
];

/** A name in every place of a request that takes one, and then the list of what was asked. */
function nameCases(): Case[] {
  const digest = `sha256:${"0".repeat(64)}`;
  return NAMES.map(([name, text]): Case => ({
    name: `a name of ${name}`,
    async run(trial) {
      const sound = Object.entries(soundBodies());
      const bodies: [string, Record<string, unknown>][] = [
        ...sound.map(([path, body]): [string, typeof body] => [path, { ...body, model: text }]),
        ["/api/copy", { source: text, destination: "b" }],
        ["/api/copy", { source: "tiny", destination: text }],
        ["/api/pull", { model: text, stream: false }],
        ["/api/plan", { model: "tiny", options: { draft: text } }],
        ["/api/create", { model: text, from: "tiny", stream: false }],
        ["/api/create", { model: "new", from: text, stream: false }],
        ["/api/create", { model: "new", files: { [text]: digest }, stream: false }],
        ["/api/create", { model: "new", files: { "a.gguf": text }, stream: false }],
      ];
      for (const [path, body] of bodies) {
        const { status, text: said } = await trial.ask({ path, body, seconds: 10 });
        const isRefused = status >= 400 && status < 500 && said.length < 10_000;
        trial.check(isRefused, () => `${path}: ${status} ${said.slice(0, 200)}`);
      }
      const { status, text: kept } = await trial.ask({ path: "/api/requests" });
      const isShort = status === 200 && kept.length < 200_000;
      trial.check(isShort, () => `/api/requests: ${status}, ${kept.length} characters`);
      const longest = Math.max(...trial.server.lines.map(({ length }) => length));
      trial.check(longest < 10_000, () => `a line of ${longest} characters is in the log`);
      return bodies.length + 2;
    },
  }));
}

/** Requests that need much of the server's own thread, many at once: others are served beside them. */
function heavyCases(): Case[] {
  const model = "quern:tiny";
  const cases: [string, number, string, object | undefined][] = [
    ["plans", 16, "/api/plan", { model }],
    ["long texts to split", 4, "/api/tokenize", { model, text: "word ".repeat(50_000) }],
    ["headers", 16, "/api/show", { model, verbose: true }],
    ["texts to embed", 4, "/api/embed", { model, input: Array(1000).fill("x") }],
    ["looks at the machine", 8, "/api/doctor", undefined],
    ["descriptions of the API", 16, "/openapi.json", undefined],
    ["pages of the guide", 16, "/docs/guide/settings", undefined],
  ];
  return cases.map(([what, many, path, body]): Case => ({
    name: `${many} ${what} at once`,
    async run(trial) {
      const ask = () => trial.ask({ path, ...body && { body }, seconds: 60 });
      const answers = await Promise.all(Array.from({ length: many }, ask));
      for (const { status } of answers) {
        trial.check([200, 503].includes(status), () => `${path}: ${status}`);
      }
    },
  }));
}

/** Bodies and their members. */
export const bodies: Area = {
  name: "bodies",
  weight: 3,
  cases(world) {
    const { seed, count } = world;
    const paths = Object.keys(soundBodies());
    const many = MANY.map(([name, path, make]): Case => ({
      name,
      async run(trial) {
        const { status, text } = await trial.ask({ path, body: make() });
        trial.check(status <= 500, () => `${path}: ${status} ${text.slice(0, 200)}`);
      },
    }));
    const embeds: Case = {
      name: "500,000 texts to embed, and the client hangs up",
      async run(trial) {
        const body = { model: "quern:tiny", input: Array(500_000).fill("a text") };
        await trial.ask({ path: "/api/embed", body, hangUpAfter: 4 });
        const { status } = await trial.ask({ path: "/api/embed", body: { ...body, input: "x" } });
        trial.check(status === 200, () => `then /api/embed: ${status}`);
      },
    };
    const random = Array.from({ length: count(RANDOM) }, (_, index): Case => {
      const path = paths[index % paths.length]!;
      const own = seed * 10_000 + index;
      return {
        name: `a member of ${path} that is drawn, ${own}`,
        run: (trial) => mutate(trial, path, new Draws(own)),
      };
    });
    return [
      ...wholeBodies(world),
      ...many,
      embeds,
      ...nameCases(),
      ...heavyCases(),
      ...random,
    ];
  },
};
