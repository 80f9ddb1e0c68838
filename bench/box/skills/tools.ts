// Tools: a list of one to four and a request. Where a tool fits, the answer names it and calls it,
// and the turn after tells its result in words; where none does, the answer is words alone.

import { isDeepStrictEqual } from "node:util";
import { capitalize, fill, type Random } from "../random.ts";
import type { Answer, Example, Skill, Split, Turn } from "../types.ts";
import { OpenClass } from "../words/open_class.ts";
import { PLAIN_SYSTEMS, SMALL_TALK, TOO_MUCH } from "../words/small_talk.ts";
import { mentions } from "../words/values.ts";
import { writeJson } from "./json.ts";
import { ACTION_TOOLS } from "./tool_actions.ts";
import { QUESTION_TOOLS, type ToolTemplate } from "./tool_catalog.ts";
import { HOUSEHOLD_TOOLS } from "./tool_household.ts";
import { LOOKUP_TOOLS } from "./tool_lookups.ts";
import {
  describe,
  groupOf,
  offer,
  type OfferedTool,
  placesOf,
  textsOf,
  valuesOf,
  words,
} from "./tool_offers.ts";
import { GIVEN, KINDS } from "./tool_parameters.ts";

/** All tools, to be offered a few at a time. */
export const CATALOG: readonly ToolTemplate[] = [
  ...QUESTION_TOOLS,
  ...LOOKUP_TOOLS,
  ...ACTION_TOOLS,
  ...HOUSEHOLD_TOOLS,
];

/**
 * What is said first, before a call or instead of one: whether a tool fits is found out in the place
 * of its name. A choice between a call and words at the first token was a coin's.
 */
const USING = "For that I have {name}.";
const NO_TOOL = "For that I have no tool, I am sorry.";

/** What may come before a request. */
const LEAD = "[||||||Hi! |Hello! |Hello. |OK. |Good morning. ]";
/** Half of the orders are put in one of these ways. */
const POLITE: readonly string[] = [
  "[please|please,|hey,|now] {order}.",
  "[could you|can you|would you|could you please|can you please] {order}?",
  "I [would like|want] you to {order}.",
];
/** What begins a request that is not an order: a question, or a statement. */
const QUESTION = /^(?:what|how|is|are|will|do|does|can|have|who|where|which)\b/;
const STATEMENT = /^(?:I|we|at)\b/;

const AGAIN: readonly string[] = [
  "[And|What about|How about|And what about|And now|OK, and|Thanks. And|Thank you. And|Thanks, and|Thank you, and|And then|OK. What about|Thanks. What about|And how about] {again}?",
  "[Now|And now|OK, now|Then|The same|Once more|And then] {again}[, please|, thanks|].",
];

const THANKS: readonly string[] = [
  "[Thanks|Thank you|Thank you very much|Great, thanks|Perfect, thanks|OK, thanks|Thanks a lot][!|.]",
];

const DONE: readonly string[] = ["OK", "done", "Done.", '{"status": "ok"}', '{"success": true}'];

const ERRORS = new OpenClass(
  "not found, no connection, the service is down, access denied, timeout, too many requests, " +
    "invalid input, no answer from the server, internal error, service not available, " +
    "disk full, wrong password, unknown user, quota exceeded, file is locked, bad request, " +
    "out of range, host unreachable, missing key, already exists",
);

export const tools: Skill = {
  name: "tools",

  example(random: Random, split: Split): Example {
    const templates = random.sample(CATALOG, random.pick([1, 1, 2, 2, 2, 3, 3, 4]));
    const offered = templates.map((template) => offer(template, random, split));
    const requests = split === "heldOut" ? 1 : random.integer(1, 3);
    const turns = Array.from(
      { length: requests },
      (_, index) =>
        random.chance(0.35)
          ? refusals(offered, random, split)
          : uses(offered[index % offered.length]!, random, split),
    ).flat();
    return {
      ...(random.chance(0.2) && { system: random.pickOf(PLAIN_SYSTEMS, split) }),
      tools: random.shuffle(offered).map((tool) => describe(tool, random)),
      turns,
    };
  },
};

/** A request that needs a tool. */
export function requestForTool(random: Random, split: Split): string {
  // Sums need none.
  const template = random.pick(CATALOG.filter(({ compute }) => !compute));
  return ask(offer(template, random, split), random, split).user;
}

/** Turns that no tool is for: small talk, or a request for a tool that is not there. */
function refusals(offered: readonly OfferedTool[], random: Random, split: Split): Turn[] {
  if (random.chance(0.3)) {
    const [user, text] = random.pickOf(SMALL_TALK, split);
    const turns: Turn[] = [{ user, answer: { text }, check: isInWords }];
    return random.chance(0.2) ? [...turns, ...uses(offered[0]!, random, split)] : turns;
  }
  const groups = new Set(offered.map(({ template }) => groupOf(template)));
  const canSearch = groups.has("search");
  if (!canSearch && random.chance(0.3)) {
    return [{
      user: random.phraseOf(TOO_MUCH, split),
      answer: { text: NO_TOOL },
      check: isInWords,
    }];
  }
  const missing = CATALOG.filter((template) => !groups.has(groupOf(template)));
  const template = random.pick(canSearch ? missing.filter((template) => !template.gives) : missing);
  const { user } = ask(offer(template, random, split), random, split);
  return [{ user, answer: { text: NO_TOOL }, check: isInWords }];
}

/** A request that the tool is for, mostly with its result, at times with a second request. */
function uses(tool: OfferedTool, random: Random, split: Split): Turn[] {
  const { user, kinds } = ask(tool, random, split);
  // Where a call is demanded there is no room for words, so some training goes without them.
  const isSilent = split === "train" && random.chance(0.1);
  const turns = [callTurn(user, tool, kinds, isSilent)];
  const ending = random.next();
  if (ending < 0.25) return turns;
  turns.push(resultTurn(tool, random, split));
  if (ending < 0.75) return turns;
  const { again } = tool.template;
  if (!again || ending > 0.92) return [...turns, thanks(random, split)];
  const other = { ...tool, parameters: new Map(tool.parameters) };
  for (const kind of placesOf(again)) {
    const { name } = tool.parameters.get(kind)!;
    other.parameters.set(kind, { ...KINDS[kind]!.make(random, split), name });
  }
  const way = random.phraseOf(AGAIN, split);
  const question = fill(way, { again: fill(again, textsOf(other)) });
  return [...turns, callTurn(question, other, kinds, isSilent), resultTurn(other, random, split)];
}

/** What a user says to have the tool used, and the kinds of the parameters told. */
function ask(tool: OfferedTool, random: Random, split: Split): { user: string; kinds: string[] } {
  const request = random.phraseOf(tool.template.requests, split);
  const text = fill(request, textsOf(tool));
  const isQuestion = QUESTION.test(request);
  const isPolite = !isQuestion && !STATEMENT.test(request) && random.chance(0.5);
  const sentence = isPolite
    ? fill(random.expand(random.pick(POLITE)), { order: text })
    : text + (isQuestion ? "?" : ".");
  const user = random.expand(LEAD) + capitalize(sentence);
  return { user, kinds: placesOf(request).filter((kind) => tool.parameters.has(kind)) };
}

function callTurn(
  user: string,
  tool: OfferedTool,
  kinds: readonly string[],
  isSilent: boolean,
): Turn {
  const told = [...tool.parameters].filter(([kind]) => kinds.includes(kind));
  const call = {
    name: tool.name,
    arguments: Object.fromEntries(told.map(([, { name, value }]) => [name, value])),
  };
  return {
    user,
    answer: { ...!isSilent && { text: fill(USING, { name: call.name }) }, call },
    check: (answer) =>
      answer.call?.name === call.name &&
      isDeepStrictEqual(answer.call.arguments, call.arguments),
  };
}

/** The tool's answer, at times an error, and the words that tell it. */
function resultTurn(tool: OfferedTool, random: Random, split: Split): Turn {
  if (random.chance(0.04)) {
    const error = ERRORS.pick(random, split);
    const toolResult = random.chance(0.5) ? writeJson({ error }) : `Error: ${error}`;
    return tell(toolResult, `That did not work: ${error}.`, [error]);
  }
  const { gives, compute, says } = tool.template;
  if (!gives) {
    const key = textsOf(tool)[placesOf(says)[0]!]!;
    return tell(random.pick(DONE), capitalize(fill(says, textsOf(tool))), [key]);
  }
  const values = Object.fromEntries(
    words(gives).map((
      given,
    ) => [given, compute ? compute(valuesOf(tool)) : GIVEN[given]!.make(random, split)]),
  );
  const toolResult = writeResult(tool, values, random);
  const text = capitalize(fill(says, { ...textsOf(tool), ...values }));
  return tell(toolResult, text, Object.values(values));
}

/** What a tool gives back: mostly JSON, which may repeat an argument; else plain text. */
function writeResult(
  tool: OfferedTool,
  values: Record<string, string | number>,
  random: Random,
): string {
  const members: [key: string, value: unknown][] = Object.entries(values).map(([given, value]) => [
    random.pick(GIVEN[given]!.keys),
    value,
  ]);
  const isBare = members.length === 1 && random.chance(0.3);
  if (isBare) return String(members[0]![1]);
  const argument = random.pick([...tool.parameters.values()]);
  const isRepeated = members.every(([key]) => key !== argument.name) && random.chance(0.25);
  if (isRepeated) members.push([argument.name, argument.value]);
  const shuffled = random.shuffle(members);
  if (random.chance(0.15)) return shuffled.map(([key, value]) => `${key}: ${value}`).join(", ");
  return writeJson(Object.fromEntries(shuffled));
}

function tell(toolResult: string, text: string, values: readonly (string | number)[]): Turn {
  return {
    toolResult,
    answer: { text },
    check: ({ call, text }) => !call && values.every((value) => mentions(text, value)),
  };
}

/** Whether the answer is words, without a call. */
function isInWords({ call, text }: Answer): boolean {
  return !call && Boolean(text?.trim());
}

function thanks(random: Random, split: Split): Turn {
  return {
    user: random.phraseOf(THANKS, split),
    answer: { text: "You are welcome!" },
    check: isInWords,
  };
}
