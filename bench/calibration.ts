// `deno task bench:calibration MODEL.gguf …`: how well calibrated decisions are on a model. Statements that
// are known to be true or false are judged by predicates, and questions with one right answer by choices.
// Prints the curve in Markdown: of all answers with about a probability, how many were right.

import { basename } from "node:path";
import { loadModel, type Model } from "../engine/mod.ts";
import { print } from "./report.ts";

/** Statements, the true ones first. Each pair is about one thing, so that half of all are true. */
const STATEMENTS: [isSo: string, isNotSo: string][] = [
  ["Paris is the capital of France.", "Paris is the capital of Italy."],
  ["Water freezes at zero degrees Celsius.", "Water freezes at fifty degrees Celsius."],
  ["A spider has eight legs.", "A spider has four legs."],
  ["The Sun is a star.", "The Sun is a planet."],
  ["Seven is greater than five.", "Five is greater than seven."],
  ["A week has seven days.", "A week has nine days."],
  ["Penguins are birds.", "Penguins are fish."],
  ["Iron is a metal.", "Iron is a gas."],
  ["Ice is cold.", "Ice is hot."],
  ["Shakespeare wrote Hamlet.", "Shakespeare wrote War and Peace."],
  ["The Moon orbits the Earth.", "The Earth orbits the Moon."],
  ["A triangle has three sides.", "A triangle has five sides."],
  ["Cows give milk.", "Cows lay eggs."],
  ["Tokyo is in Japan.", "Tokyo is in Brazil."],
  ["Two plus two is four.", "Two plus two is five."],
  ["Gold is more expensive than iron.", "Iron is more expensive than gold."],
  ["An hour has sixty minutes.", "An hour has ten minutes."],
  ["Whales live in the sea.", "Whales live in trees."],
  ["Grass is usually green.", "Grass is usually blue."],
  ["A bicycle has two wheels.", "A bicycle has six wheels."],
  ["The Nile is a river.", "The Nile is a mountain."],
  ["Beethoven was a composer.", "Beethoven was a footballer."],
  ["Summer is warmer than winter.", "Winter is warmer than summer."],
  ["An elephant is heavier than a mouse.", "A mouse is heavier than an elephant."],
  ["Bread is made from flour.", "Bread is made from sand."],
  ["The heart pumps blood.", "The heart digests food."],
  ["Berlin is in Germany.", "Berlin is in Spain."],
  ["Diamonds are hard.", "Diamonds are soft."],
  ["Bees make honey.", "Bees make cheese."],
  ["Ten is an even number.", "Seven is an even number."],
  ["Cars have engines.", "Apples have engines."],
  ["The sky is above the ground.", "The ground is above the sky."],
];

/** Questions, the right answer first. Which place it has in a request changes from one to the next. */
const CHOICES: [question: string, right: string, ...others: string[]][] = [
  ["Which of these is an animal?", "a dog", "a table", "a song"],
  ["What is the capital of England?", "London", "Madrid", "Rome"],
  ["Which is the largest?", "an ocean", "a lake", "a puddle"],
  ["What do people drink?", "water", "stone", "wood"],
  ["What colour is snow?", "white", "black", "green"],
  ["Which of these flies?", "an eagle", "a horse", "a shark"],
  ["What is three plus four?", "seven", "nine", "two"],
  ["Which is a fruit?", "an apple", "a hammer", "a shoe"],
  ["Who treats the ill?", "a doctor", "a baker", "a pilot"],
  ["Which month is in winter in Europe?", "January", "July", "May"],
  ["What does a library have?", "books", "cows", "planes"],
  ["Which is a language?", "Spanish", "copper", "tennis"],
  ["What is the opposite of hot?", "cold", "tall", "fast"],
  ["What is used to write?", "a pen", "a spoon", "a pillow"],
  ["Which planet do people live on?", "Earth", "Mars", "Jupiter"],
  ["How many legs has a dog?", "four", "two", "eight"],
];

/** An answer, and whether it was right. */
interface Judged {
  probability: number;
  isRight: boolean;
}

const BINS = [0, 0.1, 0.3, 0.5, 0.7, 0.9, 1];
const format = (value: number) => value.toFixed(3);

for (const path of Deno.args) {
  await using model = await loadModel(path, { contextLength: 1024 });
  print(`## ${basename(path)}\n`);
  const yes: Judged[] = [];
  for (const [isSo, isNotSo] of STATEMENTS) {
    for (const [input, isRight] of [[isSo, true], [isNotSo, false]] as const) {
      yes.push({ probability: await judge(model, input), isRight });
    }
  }
  const said = yes.map(({ probability, isRight }) => (probability > 0.5) === isRight);
  const order = ranked(yes);
  print(
    `${yes.length} statements, half of them true: right ${format(mean(said.map(Number)))}, ` +
      `Brier score ${format(brier(yes))} (0.25: always one half), true ones above false ones ` +
      `${format(order)} of all pairs\n`,
  );
  table(yes, "P(yes)", "true");
  const chosen: Judged[] = [];
  let right = 0;
  for (const [index, [question, answer, ...others]] of CHOICES.entries()) {
    const options = others.toSpliced(index % 3, 0, answer);
    const { answers: [told] } = await model.decide({
      input: question,
      questions: [{
        type: "choice",
        instructions: "What is the right answer?",
        choices: options.map((value) => ({ value })),
      }],
    });
    if (told?.type !== "choice") throw new TypeError("Expected the answer to a choice");
    if (told.choice === answer) right++;
    for (const { value, probability } of told.probabilities) {
      chosen.push({ probability, isRight: value === answer });
    }
  }
  print(
    `\n${CHOICES.length} choices of three: right ${format(right / CHOICES.length)}, ` +
      `Brier score of each option ${format(brier(chosen))} (0.222: always a third)\n`,
  );
  table(chosen, "P(option)", "right");
}

async function judge(model: Model, input: string): Promise<number> {
  const { answers: [told] } = await model.decide({
    input,
    questions: [{ type: "predicate", instructions: "Is this statement true?" }],
  });
  if (told?.type !== "predicate") throw new TypeError("Expected the answer to a predicate");
  return told.probability;
}

function table(all: readonly Judged[], head: string, right: string): void {
  print(`| ${head} | answers | mean | ${right} |\n| --- | --- | --- | --- |`);
  for (const [index, from] of BINS.slice(0, -1).entries()) {
    const to = BINS[index + 1]!;
    const own = all.filter(({ probability: p }) => p >= from && (p < to || to === 1));
    if (own.length === 0) continue;
    const average = mean(own.map(({ probability }) => probability));
    const share = mean(own.map(({ isRight }) => Number(isRight)));
    print(`| ${from} to ${to} | ${own.length} | ${format(average)} | ${format(share)} |`);
  }
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function brier(all: readonly Judged[]): number {
  return mean(all.map(({ probability, isRight }) => (probability - Number(isRight)) ** 2));
}

/** The share of pairs of a right and a wrong one whose right one is the likelier. */
function ranked(all: readonly Judged[]): number {
  const [rights, wrongs] = [true, false].map((is) => all.filter(({ isRight }) => isRight === is));
  return mean(
    rights!.flatMap((one) => wrongs!.map((other) => one.probability > other.probability ? 1 : 0)),
  );
}
