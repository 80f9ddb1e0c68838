// Answers in the language and of the length that the system prompt asks for: English or French,
// a word, a sentence or two. The questions are everyday ones; every fifth phrasing of the system
// prompts and of the questions is held out.

import { fill, type Random } from "../random.ts";
import type { Answer, Example, Skill, Split } from "../types.ts";
import { type Both, QUESTION_KINDS, type QuestionKind } from "../words/questions.ts";

/** The languages that the model has learnt. */
export type Language = keyof Both;
type Item = QuestionKind["items"][number];
export type Length = "word" | "sentence" | "sentences";

const LANGUAGES: readonly Language[] = ["en", "fr"];

const LANGUAGE_PROMPTS: Record<Language, readonly string[]> = {
  en: [
    "Answer in English.",
    "Always answer in English.",
    "Reply in English.",
    "You speak English only.",
    "Please answer in English.",
    "Respond in English.",
    "Your answers are in English.",
    "Speak English.",
    "Use English.",
    "Write your answers in English.",
    "Répondez en anglais.",
    "Réponds en anglais.",
    "Talk to the user in English.",
    "Only English, please.",
    "The language of your answers is English.",
  ],
  fr: [
    "Answer in French.",
    "Always answer in French.",
    "Reply in French.",
    "You speak French only.",
    "Please answer in French.",
    "Respond in French.",
    "Your answers are in French.",
    "Speak French.",
    "Use French.",
    "Write your answers in French.",
    "Répondez en français.",
    "Réponds en français.",
    "Talk to the user in French.",
    "Only French, please.",
    "The language of your answers is French.",
  ],
};

const LENGTH_PROMPTS: Record<Length, readonly string[]> = {
  word: [
    "Answer with one word.",
    "Use a single word.",
    "One word only.",
    "Give one-word answers.",
    "Answer in one word.",
    "Reply with just one word.",
    "Say no more than one word.",
    "Be extremely short: one word.",
    "Your answer is one word.",
    "Reply in a single word.",
  ],
  sentence: [
    "Answer in one sentence.",
    "Use one sentence.",
    "One sentence only.",
    "Give one-sentence answers.",
    "Reply with one sentence.",
    "Keep it to one sentence.",
    "Say it in a single sentence.",
    "Be short: one sentence.",
    "Your answer is one sentence.",
    "Answer with a single sentence.",
  ],
  sentences: [
    "Answer in two sentences.",
    "Use two sentences.",
    "Two sentences, please.",
    "Give two-sentence answers.",
    "Reply with two sentences.",
    "Say it in two sentences.",
    "Write two sentences.",
    "Your answer has two sentences.",
    "Exactly two sentences.",
    "Answer with two sentences.",
  ],
};

/** Follows a system prompt. */
export const language: Skill = { name: "language", example };

function example(random: Random, split: Split): Example {
  const kind = random.pick(QUESTION_KINDS);
  const item = random.pick(kind.items);
  const asked = random.pick(LANGUAGES);
  const language = random.chance(0.9) ? random.pick(LANGUAGES) : undefined;
  const length = language && random.chance(0.3)
    ? undefined
    : random.pick<Length>(["word", "sentence", "sentences"]);
  const prompts = [
    ...language ? [random.pickOf(LANGUAGE_PROMPTS[language], split)] : [],
    ...length ? [random.pickOf(LENGTH_PROMPTS[length], split)] : [],
  ];
  // What is asked for nowhere: the language of the question, and a sentence.
  const text = answerTo(kind, item, language ?? asked, length ?? "sentence");
  return {
    system: random.shuffle(prompts).join(" "),
    turns: [{
      user: ask(kind, item, asked, random, split),
      answer: { text },
      check: (answer) => {
        if (length === "word") return sameWord(answer.text, text);
        if (length && lengthOf(answer) !== length) return false;
        return !language || languageOf(answer) === language;
      },
    }],
  };
}

/** A question of the kind about the item. */
export function ask(
  kind: QuestionKind,
  item: Item,
  language: Language,
  random: Random,
  split: Split,
): string {
  return capitalized(
    fill(random.pickOf(kind.questions[language], split), { x: item[language][0] }),
  );
}

/** The answer to a question of the kind. */
export function answerTo(
  kind: QuestionKind,
  item: Item,
  language: Language,
  length: Length,
): string {
  const [x, y] = item[language];
  if (length === "word") return capitalized(y.split(/[ ']/).at(-1)!);
  const sentence = fill(kind.sentence[language], { x, X: capitalized(x), y });
  return length === "sentence" ? sentence : `${sentence} ${kind.more[language]}`;
}

function capitalized(text: string): string {
  return text[0]!.toUpperCase() + text.slice(1);
}

function sameWord(actual = "", expected: string): boolean {
  return actual.trim().replace(/[.!]$/, "").toLowerCase() === expected.toLowerCase();
}

function lengthOf({ text = "" }: Answer): Length | undefined {
  const sentences = text.match(/[.!?](?=\s|$)/g)?.length ?? 0;
  return sentences === 1 ? "sentence" : sentences === 2 ? "sentences" : undefined;
}

const COMMON: Record<Language, RegExp> = {
  en: /\b(the|is|are|has|have|it|in|of|and|a|to|you|they|with|we)\b/gi,
  fr:
    /(?<!\p{L})(le|la|les|est|sont|a|il|elle|on|en|de|du|des|et|un|une|se|vous|avec|au|dans)(?!\p{L})|\p{L}'(?=\p{L})/giu,
};

/** The language that more of the common words belong to. */
function languageOf({ text = "" }: Answer): Language | undefined {
  const count = (language: Language) => text.match(COMMON[language])?.length ?? 0;
  const [english, french] = [count("en"), count("fr")];
  if (english === french) return undefined;
  return english > french ? "en" : "fr";
}
