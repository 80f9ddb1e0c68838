// Questions about Quern itself, each with a key that a right answer contains. A question is a frame
// around a topic, "How do I {…}?"; every fifth frame of a kind is held out.

import { fill, type Random } from "../random.ts";
import type { Example, Skill, Split } from "../types.ts";
import { API_FACTS } from "../words/api_facts.ts";
import { COMMAND_FACTS } from "../words/command_facts.ts";
import type { Fact } from "../words/facts.ts";
import { PROGRAM_FACTS } from "../words/program_facts.ts";

type Kind = "how" | "what" | "where" | "which";

const FRAMES: Record<Kind, readonly string[]> = {
  how: [
    "How do I {topic}?",
    "How can I {topic}?",
    "I want to {topic}. How?",
    "Tell me how to {topic}.",
    "What do I have to do to {topic}?",
    "how to {topic}",
    "Please explain how to {topic}.",
    "How does one {topic}?",
    "I need to {topic}.",
    "Can you tell me how to {topic}?",
    "What is the way to {topic}?",
    "Is there a way to {topic}?",
    "How would I {topic} with Quern?",
    "Show me how to {topic}.",
    "What should I do if I want to {topic}?",
    "Help me to {topic}.",
    "Can I {topic}?",
    "I would like to {topic}.",
    "How do you {topic} here?",
    "I am trying to {topic}, how do I do it?",
    "In Quern, how do I {topic}?",
    "Hi! How do I {topic}?",
    "How is it possible to {topic}?",
    "Say how to {topic}, please.",
    "Hello, could you explain how I {topic}?",
  ],
  what: [
    "What is {topic}?",
    "Tell me {topic}.",
    "Do you know {topic}?",
    "What's {topic}?",
    "Can you tell me what {topic} is?",
    "What exactly is {topic}?",
    "Please tell me {topic}.",
    "I want to know {topic}.",
    "So what is {topic}?",
    "Could you say what {topic} is?",
  ],
  where: [
    "Where {topic}?",
    "Do you know where {topic}?",
    "Tell me where {topic}.",
    "So where {topic}?",
    "Hi, where {topic}?",
    "Where exactly {topic}?",
    "where {topic}",
    "Say where {topic}.",
    "Please, where {topic}?",
    "Hello, can you say where {topic}?",
  ],
  which: [
    "Which {topic}?",
    "What {topic}?",
    "Tell me which {topic}.",
    "Do you know which {topic}?",
    "Can you tell me which {topic}?",
    "which {topic}",
    "So which {topic}?",
    "Say which {topic}.",
    "Please tell me which {topic}.",
    "I want to know which {topic}.",
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
  return fill(random.pickOf(FRAMES[kind], split), { topic: random.pick(fact[kind]!) });
}
