// Memory: conversations of three to six turns in which the user tells facts, corrects some, talks of
// other things, and in the end asks for a fact told, or for one never told.

import { capitalize, fill, type Random } from "../random.ts";
import type { Answer, Example, Skill, Split, Turn } from "../types.ts";
import type { Fact } from "../words/fact_families.ts";
import { FACTS } from "../words/personal.ts";
import { SMALL_TALK } from "../words/small_talk.ts";
import { mentions } from "../words/values.ts";

/** What may come before a fact, before one that takes another's place, and before a question. */
const TELLING = "[|||||By the way: |Please remember: |One more thing: |Also: |You should know: ]";
const CORRECTING =
  "[Sorry, that was wrong. |No, wait. |Correction: |I was wrong. |That has changed. |Not any more: ]";
const ASKING = "[|||||One question: |So: |Now: |OK. |Quick question: |And now: ]";

/** A fact in one conversation: all that was ever said of it, the latest last. */
interface Told {
  fact: Fact;
  values: string[];
}

export const memory: Skill = {
  name: "memory",

  example(random: Random, split: Split): Example {
    const count = random.chance(0.6) ? 6 : random.integer(3, 5);
    // Training asks more often, and more often for what was never told.
    const [asking, untold] = split === "heldOut"
      ? [count > 3 && random.chance(0.4) ? 2 : 1, 0.2]
      : [random.integer(1, Math.min(3, count - 1)), 0.35];
    const told: Told[] = [];
    const turns: Turn[] = [];
    const facts = random.shuffle(FACTS);
    const chatter = random.sampleOf(SMALL_TALK, count, split);
    const smallTalk = (): Turn => {
      const [user, text] = chatter.pop()!;
      return { user, answer: { text } };
    };
    while (turns.length < count - asking) {
      const isLast = turns.length === count - asking - 1;
      const spot = random.next();
      if (told.length > 0 && spot < 0.35) turns.push(smallTalk());
      else if (told.length > 0 && spot < 0.43) {
        turns.push(correct(random.pick(told), random, split));
      } else if (told.length === 0 && !isLast && spot < 0.2) turns.push(smallTalk());
      else turns.push(tell(facts, told, random, split));
    }
    const asked = random.sample(told, asking);
    for (let i = 0; i < asking; i++) {
      const fact = asked[i];
      turns.push(
        !fact || random.chance(untold)
          ? askUntold(facts.pop()!, told, random, split)
          : ask(fact, random, split),
      );
    }
    return { turns };
  },
};

/** Tells one new fact, at times two in one message. */
function tell(facts: Fact[], told: Told[], random: Random, split: Split): Turn {
  const messages: string[] = [];
  const answers: string[] = [];
  for (let left = random.chance(0.2) ? 2 : 1; left > 0; left--) {
    const fact = facts.pop()!;
    const value = fact.make(random, split);
    told.push({ fact, values: [value] });
    messages.push(say(TELLING, fact.tells, random, split, value));
    answers.push(sentence(fact.noted, value));
  }
  return { user: messages.join(" "), answer: { text: answers.join(" ") } };
}

function correct({ fact, values }: Told, random: Random, split: Split): Turn {
  const value = fact.make(random, split);
  // The rare correction to a value told before makes it the latest again.
  const outdated = values.filter((each) => each !== value);
  values.splice(0, values.length, ...outdated, value);
  return {
    user: say(CORRECTING, fact.tells, random, split, value),
    answer: { text: sentence(fact.noted, value) },
  };
}

function ask({ fact, values }: Told, random: Random, split: Split): Turn {
  const latest = values.at(-1)!;
  const outdated = values.slice(0, -1);
  return {
    user: say(ASKING, fact.asks, random, split),
    answer: { text: sentence(fact.recalled, latest) },
    check: ({ text }) =>
      mentions(text, latest) &&
      !outdated.some((value) => !mentions(latest, value) && mentions(text, value)),
  };
}

function askUntold(fact: Fact, told: readonly Told[], random: Random, split: Split): Turn {
  const values = told.flatMap(({ values }) => values);
  return {
    user: say(ASKING, fact.asks, random, split),
    answer: { text: fact.untold },
    check: ({ text }: Answer) =>
      /\b(?:not|never|no)\b|n't/i.test(text ?? "") &&
      !values.some((value) => mentions(text, value)),
  };
}

/** The pattern with its value; a value that begins the sentence begins with a capital. */
function sentence(pattern: string, value: string): string {
  return capitalize(fill(pattern, { value }));
}

/** One of the sentences, with its value, after a way into it. */
function say(
  ways: string,
  patterns: readonly string[],
  random: Random,
  split: Split,
  value = "",
): string {
  return random.expand(ways) + sentence(random.phraseOf(patterns, split), value);
}
