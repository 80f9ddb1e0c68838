// Prompts of about a given number of tokens. Each differs from the first word on, so that the
// server has no prefix of it in a cache. How many tokens a word has depends on the model and is
// learnt on the way.

const WORDS = (
  "river stone light paper green window market story winter letter garden music table number " +
  "horse city water field night doctor school island bread summer engine mountain picture " +
  "morning silver question forest kitchen captain village machine weather ocean teacher bridge " +
  "corner engineer animal yellow history library minute valley sister travel country flower " +
  "building family harbor planet autumn leather secret copper journey station castle thunder"
).split(" ");

/** Words of the first prompt, before anything is known. */
const FIRST_WORDS = 24;

/** Makes prompts. */
export class PromptSource {
  readonly #random: () => number;
  #tokensPerWord: number | undefined;

  /** @param random as Math.random */
  constructor(random: () => number = Math.random) {
    this.#random = random;
  }

  /** @param tokens about how many; the first prompt is short whatever is asked for */
  make(tokens: number): string {
    const count = this.#tokensPerWord ? tokens / this.#tokensPerWord : FIRST_WORDS;
    const word = () => WORDS[Math.floor(this.#random() * WORDS.length)]!;
    return Array.from({ length: Math.max(1, Math.floor(count)) }, word).join(" ");
  }

  /** Learns how many tokens a prompt had. */
  learn(prompt: string, tokens: number): void {
    if (tokens > 0) this.#tokensPerWord = tokens / prompt.split(" ").length;
  }
}
