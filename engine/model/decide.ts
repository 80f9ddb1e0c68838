// Decisions: questions about an input, answered by the probabilities of given options and not by text.
// An option's probability is that of its tokens, as the model's tokenizer writes them after the prompt:
// the other ways to write the same text are hardly ever a model's own (Cao and Rimell 2021), and to sum
// over all of them is hard in general (Geh et al. 2024). The answer "yesterday" does not count as "yes":
// what goes on to a longer option is taken from the shorter one. The rest is renormalized.

import { exponential } from "../../kernels/mod.ts";
import { addText, cutText, taint, type Text } from "../../tokenizer/mod.ts";
import { cancellable, flagsOf, pollCancellation } from "../cancellation.ts";
import { type ChatContext, promptBeforeAnswer } from "../chat/mod.ts";
import { ContextLengthError, RequestError } from "../errors.ts";
import type { Assembly } from "../load/mod.ts";
import { encodePrompt } from "../prompt/mod.ts";
import type {
  ChatMessage,
  DecideRequest,
  DecideResult,
  DecisionAnswer,
  DecisionQuestion,
} from "../types/mod.ts";
import { alike, type ScoredTokens, sumLogprobs } from "./score.ts";

/** Most texts of options in a request: so many take minutes. */
const MOST_OPTIONS = 10_000;

/**
 * Units of text before an option that are encoded anew with it. Only the tokens at the end of a prompt
 * can depend on what follows.
 */
const UNITS_BEFORE = 64;

/** How answers to predicates are written. */
export const YES = ["Yes", "yes"];
export const NO = ["No", "no"];

/** The options of a question, and what asks for one of them. */
interface Asked {
  readonly text: string;
  /** The ways to write each option. */
  readonly options: readonly (readonly string[])[];
}

/** Answers questions. Errors: as in {@linkcode ChatModel.decide}. */
export async function decide(
  context: ChatContext & Assembly,
  request: DecideRequest,
): Promise<DecideResult> {
  const { questions, signal } = request;
  const all = cancellable(flagsOf(signal), () => {
    const asked = checked(questions).map(ask);
    const texts = asked.reduce((sum, { options }) => sum + options.flat().length, 0);
    if (texts > MOST_OPTIONS) {
      throw new RequestError(
        `Cannot decide: ${texts} options, at most ${MOST_OPTIONS} are possible`,
      );
    }
    const messages = conversation(request.input);
    return asked.map((one, index) => {
      pollCancellation();
      return encodeOptions(context, { ...request, messages }, one, `questions[${index}]`);
    });
  });
  const { sums, promptTokens } = await sumLogprobs(context, all.flat(2), signal);
  let first = 0;
  const answers = all.map((options, index) => {
    const own = sums.subarray(first, first += options.flat().length);
    return answerOf(questions[index], massesOf(options, own));
  });
  return { answers, promptTokens };
}

/** The probability of each option, of which all texts count. They add up to at most 1. */
function massesOf(options: readonly (readonly ScoredTokens[])[], sums: Float64Array): number[] {
  const shares = shareOf(options.flat(), sums);
  let at = 0;
  return options.map((texts) =>
    shares.subarray(at, at += texts.length).reduce((sum, share) => sum + share, 0)
  );
}

/** The probability of each option, if one of them it is. @param sums as for shareOf() */
export function probabilityOf(
  options: readonly (readonly ScoredTokens[])[],
  sums: Float64Array,
): number[] {
  return normalized(massesOf(options, sums));
}

/** Numbers as shares of their sum; where that is zero, equal shares. */
function normalized(masses: readonly number[]): number[] {
  const sum = masses.reduce((sum, mass) => sum + mass, 0);
  return masses.map((mass) => sum > 0 ? mass / sum : 1 / masses.length);
}

/**
 * The probability of each text: that an answer begins with it, and does not go on to a longer one that
 * begins with it. They are of events that exclude each other.
 *
 * @param logprobs the log-probabilities of the sequences' scored tokens
 */
function shareOf(sequences: readonly ScoredTokens[], logprobs: Float64Array): Float64Array {
  const shares = logprobs.map(exponential);
  const order = sequences.map((_, index) => index)
    .sort((a, b) => sequences[a].tokens.length - sequences[b].tokens.length);
  for (const [i, longer] of order.entries()) {
    // Only from the longest of those that it begins with: those took theirs from the shorter ones.
    const begun = order.slice(0, i).findLast((other) =>
      alike(sequences[other].tokens, sequences[longer].tokens) === sequences[other].tokens.length
    );
    if (begun !== undefined) shares[begun] -= exponential(logprobs[longer]);
  }
  return shares.map((share) => Math.max(0, share));
}

function answerOf(question: DecisionQuestion, weights: readonly number[]): DecisionAnswer {
  const mass = weights.reduce((sum, weight) => sum + weight, 0);
  const probabilities = normalized(weights);
  const common = { name: question.name ?? null, mass: Math.min(1, mass) };
  const best = probabilities.indexOf(Math.max(...probabilities));
  const confidence = probabilities[best];
  switch (question.type) {
    case "predicate":
      return { type: "predicate", ...common, probability: probabilities[0] };
    case "choice": {
      const values = question.choices.map(({ value }) => value);
      return {
        type: "choice",
        ...common,
        choice: values[best],
        confidence,
        probabilities: values.map((value, i) => ({ value, probability: probabilities[i] })),
      };
    }
    case "score":
      return {
        type: "score",
        ...common,
        score: probabilities.reduce((sum, probability, value) => sum + value * probability, 0),
        confidence,
        probabilities: question.levels.map(({ label }, value) => {
          return { label, value, probability: probabilities[value] };
        }),
      };
  }
}

function checked(questions: readonly DecisionQuestion[]): readonly DecisionQuestion[] {
  const refuse = (state: string) => new RequestError(`Cannot decide: ${state}`);
  if (questions.length === 0) throw refuse("questions is empty");
  for (const [index, question] of questions.entries()) {
    const where = `questions[${index}]`;
    if (question.instructions.trim() === "") throw refuse(`${where}.instructions is empty`);
    if (question.type === "predicate") continue;
    const [name, options]: [string, readonly (string | boolean)[]] = question.type === "choice"
      ? ["choices", question.choices.map(({ value }) => value)]
      : ["levels", question.levels.map(({ label }) => label)];
    if (options.length < 2) throw refuse(`${where}.${name} needs at least two`);
    for (const [at, option] of options.entries()) {
      const before = options.indexOf(option);
      if (before < at) throw refuse(`${where}.${name}[${at}] is the same as ${name}[${before}]`);
      if (`${option}`.trim() === "") throw refuse(`${where}.${name}[${at}] is empty`);
    }
  }
  return questions;
}

/** The words that ask a question, and the texts of its options. */
function ask(question: DecisionQuestion): Asked {
  const instructions = question.instructions.trim();
  if (question.type === "predicate") {
    const text =
      `Is this so, judging by the above? ${instructions}\n\nAnswer with "Yes" or "No" alone.`;
    return { text, options: [YES, NO] };
  }
  const options = question.type === "choice"
    ? question.choices.map(({ value, description }) => ({ text: `${value}`, value, description }))
    : question.levels.map(({ label, description }) => ({ text: label, value: label, description }));
  // True and "true" are different values, so they must not be the same text.
  const texts = options.map(({ text, value }) =>
    typeof value === "string" &&
      options.some((other) => other.value !== value && other.text === text)
      ? JSON.stringify(text)
      : text
  );
  const listed = options.map(({ description }, i) =>
    `- ${texts[i]}${description ? `: ${description}` : ""}`
  );
  const kind = question.type === "choice" ? "" : ", ordered from the lowest to the highest";
  return {
    text: `${instructions}\n\nAnswer with exactly one of these and nothing else${kind}:\n${
      listed.join("\n")
    }`,
    options: texts.map((text) => [text]),
  };
}

/** The input as a conversation, in which no two turns of a user follow on one another. */
function conversation(input: DecideRequest["input"]): ChatMessage[] {
  const messages: readonly ChatMessage[] = typeof input === "string"
    ? [{ role: "user", content: input }]
    : input;
  const joined: ChatMessage[] = [];
  for (const message of messages) {
    if (message.images?.length || message.audio?.length) {
      throw new RequestError(
        "Cannot decide: input has images or sounds, and decisions read text alone",
      );
    }
    const last = joined.at(-1);
    if (message.role !== "user" || last?.role !== "user") joined.push({ ...message });
    else joined[joined.length - 1] = { ...last, content: `${last.content}\n\n${message.content}` };
  }
  return joined;
}

/** The tokens of a prompt with each of the texts that may follow it. Errors: RequestError, ContextLengthError. */
export function encodeOptions(
  context: ChatContext,
  { messages, template }: { messages: readonly ChatMessage[]; template?: string },
  { text, options }: Asked,
  where: string,
): ScoredTokens[][] {
  const last = messages.at(-1);
  const question: ChatMessage = { role: "user", content: text };
  const asked = last?.role === "user"
    ? [...messages.slice(0, -1), { ...last, content: `${last.content}\n\n---\n\n${text}` }]
    : [...messages, question];
  const hasTemplate = template !== undefined || context.template !== undefined;
  const common = { messages: asked, ...(template !== undefined && { template }) };
  const prompt = hasTemplate
    ? promptBeforeAnswer(context, common)
    : addText(promptBeforeAnswer(context, common), "Answer:");
  const encode = encoderAfter(context, prompt);
  const before = encode("");
  let from = before.length;
  const seen: ScoredTokens[][] = [];
  for (const [index, texts] of options.entries()) {
    const own: ScoredTokens[] = [];
    for (const one of texts) {
      const tokens = encode(hasTemplate ? one : ` ${one}`);
      from = Math.min(from, alike(before, tokens));
      const isSame = (other: ScoredTokens) =>
        other.tokens.length === tokens.length && alike(other.tokens, tokens) === tokens.length;
      const same = seen.findIndex((others) => others.some(isSame));
      if (same >= 0) {
        const state = `the model reads options ${same} and ${index} as the same tokens`;
        throw new RequestError(`Cannot decide: ${where}: ${state}`);
      }
      if (!own.some(isSame)) own.push({ tokens, from });
    }
    seen.push(own);
  }
  return seen.map((own) => own.map(({ tokens }) => ({ tokens, from })));
}

/** The function that encodes a prompt with a text after it, without encoding all of it each time. */
function encoderAfter(context: ChatContext, prompt: Text): (text: string) => number[] {
  const { tokenizer, contextLength } = context;
  const whole = encodePrompt(context, { prompt }) as number[];
  const end = cutText(prompt, Math.max(0, prompt.length - UNITS_BEFORE));
  const alone = tokenizer.encode(end);
  const known = alike(whole.toReversed(), alone.toReversed());
  return (text) => {
    const after = tokenizer.encode(addText(end, taint(text)));
    const kept = alike(alone, after);
    const changed = alone.length - kept;
    const tokens = changed <= known
      ? [...whole.slice(0, whole.length - changed), ...after.slice(kept)]
      : encodePrompt(context, { prompt: addText(prompt, taint(text)) }) as number[];
    if (tokens.length > contextLength) throw new ContextLengthError(tokens.length, contextLength);
    return tokens;
  };
}
