// Questions about Quern itself, each with a key that a right answer contains. A question is a frame
// around a topic, "How do I {…}?"; every fifth wording of the frames is held out.

import { capitalize, fill, type Random } from "../random.ts";
import type { Example, Skill, Split } from "../types.ts";
import { API_FACTS } from "../words/api_facts.ts";
import { COMMAND_FACTS } from "../words/command_facts.ts";
import type { Fact } from "../words/facts.ts";
import { PROGRAM_FACTS } from "../words/program_facts.ts";

type Kind = "how" | "what" | "where" | "which";

const GREETING = "[||||Hi! |Hello, |So, |In Quern, ]";
const TELL_ME =
  "[Tell me|Please tell me|Can you tell me|Could you say|Do you know|I want to know|Say|Please explain|Can you explain|Hello, could you explain|Hi, can you say]";

const FRAMES: Record<Kind, readonly string[]> = {
  how: [
    `${GREETING}how [do I|can I|does one|would I|do you|should I] {topic}[| here| with Quern]?`,
    `${TELL_ME} how [to|I|I can|one can] {topic}[|, please].`,
    "I [want to|need to|would like to|am trying to] {topic}[.|. How?|, how do I do it?|, what do I do?]",
    "What [do I have to do|should I do|must I do|do I do] [to|if I want to] {topic}?",
    `${GREETING}[what is the way|is there a way|is it possible|how is it possible] to {topic}?`,
    "[how to|Show me how to|Help me to|Please help me to] {topic}",
    `${GREETING}can I {topic}[| here| with Quern]?`,
  ],
  what: [
    `${GREETING}[what is|what's|what exactly is] {topic}?`,
    `${TELL_ME} what {topic} is[|, please].`,
    `${TELL_ME} {topic}.`,
  ],
  where: [
    `${GREETING}where [|exactly ]{topic}?`,
    `${TELL_ME} where [|exactly ]{topic}[|, please].`,
  ],
  which: [
    `${GREETING}[which|what] {topic}?`,
    `${TELL_ME} [which|what] {topic}[|, please].`,
  ],
};

const FACTS: readonly Fact[] = [...COMMAND_FACTS, ...API_FACTS, ...PROGRAM_FACTS];
const KINDS = Object.keys(FRAMES) as Kind[];

/** Knows Quern. */
export const about: Skill = { name: "about", example };

function example(random: Random, split: Split): Example {
  const fact = random.pick(FACTS);
  const { answer: text, key } = fact;
  const turns = [{
    user: ask(fact, random, split),
    answer: { text },
    check: ({ text = "" }) => key.test(text),
  }];
  return { turns };
}

function ask(fact: Fact, random: Random, split: Split): string {
  const kind = random.pick(KINDS.filter((kind) => fact[kind]));
  const question = fill(random.phraseOf(FRAMES[kind], split), { topic: random.pick(fact[kind]!) });
  return random.chance(0.8) ? capitalize(question) : question;
}
