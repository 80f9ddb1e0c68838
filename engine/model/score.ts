// How likely given tokens are: the log-probability of each, by a softmax in doubles over the whole
// vocabulary. Sequences that begin alike become branches of a tree, so that what they have in common is
// run once. The logits of a step are reduced when it ends, and not kept.

import { logSumOfExponentials } from "../../kernels/mod.ts";
import { pollCancellation } from "../cancellation.ts";
import { ContextLengthError, NotFiniteError, RequestError } from "../errors.ts";
import {
  checkLogprobs,
  generate,
  type GenerateContext,
  likeliest,
  textToken,
} from "../generate/mod.ts";
import type { Assembly } from "../load/mod.ts";
import { checkTokens } from "../prompt/mod.ts";
import type { Branch } from "../run/mod.ts";
import type {
  GenerateEvent,
  GenerateRequest,
  ScoreInput,
  ScoreRequest,
  TokenScore,
} from "../types/mod.ts";

/** Most levels of branches after the first: each holds a slot while those after it run. */
const MOST_LEVELS = 2;

/** Fewest tokens that get a branch of their own, a step before what follows: fewer are run again by each. */
const LEAST_SHARED = 8;

/** Tokens, those of which from number `from` on are scored. */
export interface ScoredTokens {
  readonly tokens: readonly number[];
  readonly from: number;
}

/** The logits after which a token comes. */
interface NextLogits {
  /** [vocabulary] */
  readonly logits: Float32Array;
  /** The logarithm of the sum of their exponentials. */
  readonly normalizer: number;
  /** Index of the sequence, and number of the token in it. */
  readonly sequence: number;
  readonly at: number;
}

/** The log-probabilities of texts' tokens. Errors: as in {@linkcode ChatModel.score}. */
export async function score(
  context: GenerateContext & Assembly,
  { inputs, top = 0, signal }: ScoreRequest,
): Promise<TokenScore[][]> {
  const { tokenizer } = context;
  checkLogprobs(top, "score texts");
  if (inputs.length === 0) throw new RequestError("Cannot score texts: there are none");
  const sequences = inputs.map((input, index) => encode(context, input, index));
  const scores = sequences.map(({ tokens, from }) =>
    tokens.slice(from).map((id): TokenScore => textToken(id, tokenizer))
  );
  const tell = ({ logits, normalizer, sequence, at }: NextLogits) => {
    const { tokens, from } = sequences[sequence];
    const logit = logits[tokens[at]];
    const alternatives = likeliest(logits, top).map((id) => ({
      ...textToken(id, tokenizer),
      logprob: logits[id] - normalizer,
    }));
    Object.assign(scores[sequence][at - from], {
      logprob: logit - normalizer,
      rank: 1 + logits.reduce((above, other) => above + Number(other > logit), 0),
      ...(top > 0 && { top: alternatives }),
    });
  };
  await lookAt(context, sequences, tell, signal);
  return scores;
}

/**
 * A generation whose first event has the scores of its prompt's tokens. It begins when these are known,
 * and finds what was read for them in the cache. Errors at once: RequestError; before the first event:
 * those of generate().
 */
export function generateScored(
  context: GenerateContext & Assembly,
  request: GenerateRequest,
  top: number,
): AsyncIterable<GenerateEvent> {
  const { prompt: text, suffix, images, audio, signal } = request;
  const attempt = "Cannot tell how likely the prompt was";
  if (suffix || images?.length || audio?.length) {
    throw new RequestError(`${attempt}: it has ${suffix ? "a suffix" : "images or sounds"}`);
  }
  checkLogprobs(top, "tell how likely the prompt was");
  const scoring = score(context, { inputs: [{ text }], top, ...(signal && { signal }) });
  scoring.catch(() => {}); // Whoever reads the events is told.
  const { bosToken } = context.tokenizer;
  return (async function* () {
    const [scores] = await scoring;
    const answer = generate(context, request);
    try {
      const isAdded = typeof text === "string" && scores![0]?.id === bosToken;
      yield { type: "prompt", scores: scores!, added: isAdded ? 1 : 0 };
      yield* answer;
    } finally {
      await answer.return?.();
    }
  })();
}

/**
 * The sums of the log-probabilities of each sequence's scored tokens, and the number of tokens that were
 * run for them. Errors: NotFiniteError; the signal's reason.
 */
export async function sumLogprobs(
  context: GenerateContext & Assembly,
  sequences: readonly ScoredTokens[],
  signal: AbortSignal | undefined,
): Promise<{ sums: Float64Array; promptTokens: number }> {
  const sums = new Float64Array(sequences.length);
  const promptTokens = await lookAt(context, sequences, ({ logits, normalizer, sequence, at }) => {
    sums[sequence] += logits[sequences[sequence].tokens[at]] - normalizer;
  }, signal);
  return { sums, promptTokens };
}

function encode(
  { tokenizer, contextLength }: GenerateContext,
  { text, from = 0 }: ScoreInput,
  index: number,
): ScoredTokens {
  const attempt = `Cannot score text ${index}`;
  const tokens = typeof text === "string" ? tokenizer.encode(text, { bos: true }) : [...text];
  checkTokens(tokens, tokenizer, attempt);
  if (tokens.length === 0) throw new RequestError(`${attempt}: it has no tokens`);
  if (tokens.length > contextLength) throw new ContextLengthError(tokens.length, contextLength);
  if (Number.isInteger(from) && from >= 0 && from < tokens.length) return { tokens, from };
  throw new RequestError(`${attempt}: it has ${tokens.length} tokens, and none is number ${from}`);
}

/**
 * Runs sequences, and tells the logits before each scored token but a first one.
 * @returns tokens that were run
 */
async function lookAt(
  { scheduler, chunkSize, adapterScales: adapters }: GenerateContext & Assembly,
  sequences: readonly ScoredTokens[],
  tell: (next: NextLogits) => void,
  signal: AbortSignal | undefined,
): Promise<number> {
  const levels = Math.min(MOST_LEVELS, scheduler.evaluationLimits.sequences - 1);
  const tree = plant(sequences, levels);
  const take = (logits: Float32Array, branch: number, position: number) => {
    pollCancellation();
    const at = position + 1;
    const here = tree[branch].members.filter((index) => isScored(sequences[index], at));
    if (here.length === 0) return;
    const normalizer = logSumOfExponentials(logits);
    if (!Number.isFinite(normalizer)) throw new NotFiniteError("logits");
    for (const sequence of here) tell({ logits, normalizer, sequence, at });
  };
  const wanted = { output: "logits", take, reuses: true } as const;
  await scheduler.evaluate({ branches: tree, ...wanted, chunkSize, adapters, signal });
  return tree.reduce((sum, { tokens }) => sum + tokens.length, 0);
}

function isScored({ tokens, from }: ScoredTokens, at: number): boolean {
  return at >= from && at < tokens.length;
}

/** A branch, and the sequences that go along it. */
interface ScoredBranch extends Branch {
  readonly members: readonly number[];
}

/**
 * The branches of sequences without their last tokens, after which nothing is to be known.
 *
 * @param levels most branches that follow on one another after a first one
 */
export function plant(sequences: readonly ScoredTokens[], levels: number): ScoredBranch[] {
  const branches: ScoredBranch[] = [];
  /** Tokens of a sequence that are run. */
  const runLength = (index: number) => sequences[index].tokens.length - 1;
  /**
   * Adds the branches of sequences that are alike before `start`, in the order of their tokens.
   *
   * @param riders sequences that end on the way of the first of them, and need no branch of their own
   */
  const grow = (
    group: readonly number[],
    riders: readonly number[],
    start: number,
    left: number,
    after?: number,
  ): void => {
    const [shortest, longest] = [group[0], group.at(-1)!];
    const common = Math.min(
      runLength(shortest),
      alike(sequences[shortest].tokens, sequences[longest].tokens),
    );
    const [ending, longer] = [true, false].map((ends) =>
      group.filter((index) => runLength(index) === common === ends)
    );
    const isShared = left > 0 && common - start >= (after === undefined ? 1 : LEAST_SHARED);
    const isBranch = common > start && (isShared || longer.length === 0);
    if (isBranch) {
      const members = [...riders, ...group];
      const tokens = sequences[longest].tokens.slice(start, common);
      branches.push({ tokens, after, members, wanted: firstWanted(members, start, common) });
    }
    const next = branches.length - 1;
    let rest = [...riders, ...ending];
    for (const one of Map.groupBy(longer, (index) => sequences[index].tokens[common]).values()) {
      if (isBranch) grow(one, [], common, left - 1, next);
      else grow(one, rest, start, left, after);
      rest = [];
    }
  };
  /** The first position whose logits are wanted, of those from `start` to before `end`. */
  const firstWanted = (members: readonly number[], start: number, end: number) => {
    const first = Math.min(...members.map((index) => Math.max(start, sequences[index].from - 1)));
    return first < end ? first : "none";
  };
  const all = sequences.map((_, index) => index).filter((index) => runLength(index) > 0);
  all.sort((a, b) => compare(sequences[a].tokens, sequences[b].tokens));
  if (all.length > 0) grow(all, [], 0, levels);
  return branches;
}

/** Number of tokens at the beginning that two sequences have in common. */
export function alike(a: readonly number[], b: readonly number[]): number {
  const most = Math.min(a.length, b.length);
  let count = 0;
  while (count < most && a[count] === b[count]) count++;
  return count;
}

function compare(a: readonly number[], b: readonly number[]): number {
  const at = alike(a, b);
  return (a[at] ?? -1) - (b[at] ?? -1);
}
