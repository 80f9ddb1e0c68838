// Answers of 200 prompts with drafts and without, greedy and drawn from a seed, of any text, of a schema
// and with tools: each the same, token by token, whether the drafts come from the text alone or from a
// draft model as well. Everyday's share is two; QUERN_SWEEP runs all.

import {
  type ChatEvent,
  type ChatModel,
  type ChatRequest,
  loadModel,
} from "../../../engine/mod.ts";
import { folder } from "../harness.ts";
import { writeBlurred } from "../../../bench/blurred_model.ts";
import { assert, assertEquals } from "@std/assert";
import { share } from "../../share.ts";

const PROMPTS = share(2, 200);

const path = new URL("../../../engine/box/quern-tiny.gguf", import.meta.url);
const draft = `${folder}/blurred.gguf`;
await writeBlurred(path, draft);

/** Answers at a time, of other requests beside each. */
const BESIDE = 6;

const NAMES = ["Ada", "Nora", "Miller", "Otto", "Rosa", "Jun", "Lea", "Ivo"];
const CITIES = ["Rome", "Oslo", "Lima", "Quito", "Bonn", "Kyoto"];

/** A record of a list that goes on alike, another one for each number. */
function person(number: number): string {
  const name = NAMES[number % 8];
  return `{"name": "${name}", "age": ${20 + number * 7 % 60}, "city": "${CITIES[number % 6]}"}`;
}

function promptOf(number: number): string {
  const records = [number, number + 1, number + 1, number + 1].map(person);
  return number % 2 === 0
    ? `Copy this list as JSON, and again: [${records.join(", ")}]`
    : `${NAMES[number % 8]} lives in ${CITIES[number % 5]}. `.repeat(3) + "Say that again.";
}

const SCHEMA = {
  type: "array",
  minItems: 2,
  items: {
    type: "object",
    properties: {
      name: { type: "string", maxLength: 12 },
      age: { type: "integer" },
      city: { enum: CITIES },
    },
    required: ["name", "age", "city"],
    additionalProperties: false,
  },
};

const TOOLS: ChatRequest["tools"] = ["get_weather", "get_time"].map((name) => ({
  type: "function",
  function: {
    name,
    parameters: {
      type: "object",
      properties: { city: { type: "string" }, people: SCHEMA },
      required: ["city", "people"],
    },
  },
}));

const KINDS: Record<string, Partial<ChatRequest>> = {
  // Long enough to say something again.
  "any text": { ignoreEnd: true, maxTokens: 144 },
  "a schema": { format: { schema: SCHEMA } },
  "tools": { tools: TOOLS!, toolChoice: "required" },
};

const WAYS: Record<string, (number: number) => Partial<ChatRequest>> = {
  "greedy": () => ({ temperature: 0 }),
  "drawn": (seed) => ({ temperature: 0.9, seed, repeatPenalty: seed % 3 === 0 ? 1.1 : 1 }),
};

/** What an answer says, and how many of its tokens were drafted and came. */
async function read(events: AsyncIterable<ChatEvent>) {
  const said: string[] = [];
  let [tokens, drafted, accepted] = [0, 0, 0];
  for await (const event of events) {
    if (event.type === "text" || event.type === "thinking") said.push(event.text);
    if (event.type === "callArguments") said.push(event.json);
    if (event.type === "callEnd") said.push(event.name);
    if (event.type !== "done") continue;
    const { usage } = event;
    tokens = usage.completionTokens;
    [drafted, accepted] = [usage.draftedTokens ?? 0, usage.acceptedTokens ?? 0];
  }
  return { said: said.join(""), tokens, drafted, accepted };
}

for (const [kind, asked] of Object.entries(KINDS)) {
  Deno.test(`answers of ${kind} are the same with drafts and without`, async () => {
    const load = { contextLength: 512, maxSequences: BESIDE };
    await using alone = await loadModel(path, load);
    await using helped = await loadModel(path, { ...load, draft });
    const requests = Array.from({ length: PROMPTS }).flatMap((_, number) =>
      Object.values(WAYS).map((way): ChatRequest => ({
        messages: [{ role: "user", content: promptOf(number) }],
        maxTokens: 48,
        ...asked,
        ...way(number),
      }))
    );
    const accepted = [0, 0];
    for (let first = 0; first < requests.length; first += BESIDE) {
      const some = requests.slice(first, first + BESIDE);
      const answers = (model: ChatModel, draftTokens?: number) => {
        const more = draftTokens === undefined ? {} : { draftTokens };
        return Promise.all(some.map((request) => read(model.chat({ ...request, ...more }))));
      };
      const plain = await answers(alone, 0);
      for (const [way, drafted] of [await answers(alone), await answers(helped, 4)].entries()) {
        for (const [i, { said, tokens }] of plain.entries()) {
          assertEquals({ said: drafted[i].said, tokens: drafted[i].tokens }, { said, tokens });
          accepted[way] += drafted[i].accepted;
        }
      }
    }
    // How many are drafted from the text depends on what they cost here; some always are.
    assert(accepted[0] > 0, `${accepted[0]} of the tokens drafted from the text came`);
    assert(accepted[1] > 4 * requests.length, `${accepted[1]} of those of the draft model came`);
  });
}
