// What is said so far in a sound that grows: text is sent once two passes in a row agree on it ("local
// agreement": Liu et al. 2020; for Whisper, Macháček et al. 2023), and nothing is taken back. Pure.

/** Words; in scripts without spaces, characters. With the space before, and the marks behind. */
const WORDS = new RegExp(
  String.raw`\s*(?:[${scripts()}][^\s\p{L}\p{N}]*|[^\s${scripts()}]+)(?:\s+$)?`,
  "gu",
);

/** Words that are told to a pass of what was said before, and that a sentence may have to be heard whole. */
const [MOST_BEFORE, MOST_OPEN] = [40, 20];

/** Words in a row on which passes have to agree where they differ in a word before. */
const LEAST_RUN = 3;

/** By how many words their places may differ then. */
const MOST_SHIFT = 2;

/** The end of a sentence. */
const END = /[.!?\u3002\uff01\uff1f]\s*$/;

/** The scripts without spaces. */
function scripts(): string {
  return ["Han", "Hiragana", "Katakana", "Thai", "Lao", "Khmer", "Myanmar"]
    .map((name) => String.raw`\p{Script=${name}}`).join("");
}

/** The text of a turn while it is spoken. */
export class AgreedText {
  /** The words that were sent, of which passes no longer hear the first ones. */
  #sent: string[] = [];
  #settled = 0;
  /** The words of the last pass. */
  #heard: string[] = [];

  /** The last words that were sent of the sound that passes no longer hear. */
  get settled(): string {
    return this.#sent.slice(Math.max(0, this.#settled - MOST_BEFORE), this.#settled).join("");
  }

  /**
   * Takes the text of a pass, and gives what can be sent: the words that the last pass found, too, but for
   * the one at the very end, of which more may be heard.
   */
  take(text: string): string {
    const earlier = this.#rest();
    this.#heard = wordsOf(text);
    const now = this.#rest();
    return this.#send(now.slice(0, Math.min(now.length - 1, agreeing(earlier, now))));
  }

  /**
   * Settles what was sent up to the end of its last sentence, or all but its last words where a sentence
   * is long: passes to come no longer hear it. Gives how many characters of the last pass's text that is.
   */
  settle(): number {
    const covered = coveredBy(this.#unsettled, this.#heard);
    const sentences = this.#heard.slice(0, covered).findLastIndex((word) => END.test(word)) + 1;
    const count = sentences || Math.max(0, covered - MOST_OPEN);
    this.#settled = Math.max(this.#settled, this.#sent.length - (covered - count));
    return this.#heard.splice(0, count).join("").length;
  }

  /** What can be sent of the beginning of the turn's transcript, as long as it goes on as what was sent. */
  follow(transcript: string): string {
    const sent = this.#sent.join("");
    return transcript.startsWith(sent) ? this.#send(wordsOf(transcript.slice(sent.length))) : "";
  }

  /** What is left to send of the turn's transcript, whether or not that begins as what was sent. */
  finish(transcript: string): string {
    const words = wordsOf(transcript);
    return this.follow(transcript) || this.#send(words.slice(coveredBy(this.#sent, words)));
  }

  get #unsettled(): string[] {
    return this.#sent.slice(this.#settled);
  }

  /** What follows what was sent in the last pass. */
  #rest(): string[] {
    return this.#heard.slice(coveredBy(this.#unsettled, this.#heard));
  }

  #send(words: readonly string[]): string {
    const text = words.join("");
    const delta = this.#sent.length === 0 ? text.trimStart() : text;
    this.#sent.push(...wordsOf(delta));
    return delta;
  }
}

function wordsOf(text: string): string[] {
  return text.match(WORDS) ?? [];
}

/**
 * How many words from the beginning two passes agree on. A word on which they differ counts if three follow on
 * which they agree, because it may change for ever, and what follows it waits.
 */
function agreeing(earlier: readonly string[], now: readonly string[]): number {
  const [before, after] = [earlier, now].map((words) => words.map(plain));
  let same = 0;
  while (same < after.length && after[same] === before[same]) same++;
  for (let end = after.length; end >= same + LEAST_RUN; end--) {
    const run = after.slice(end - LEAST_RUN, end).join(" ");
    for (let shift = -MOST_SHIFT; shift <= MOST_SHIFT; shift++) {
      const first = Math.max(0, end - LEAST_RUN + shift);
      if (before.slice(first, first + LEAST_RUN).join(" ") === run) return end;
    }
  }
  return same;
}

/**
 * How many words of a text are those that were sent, though some of them may differ: the beginning from
 * which the fewest words have to be changed, added or left out.
 */
function coveredBy(sent: readonly string[], words: readonly string[]): number {
  const [from, to] = [sent, words].map((all) => all.map(plain));
  let changes = Array.from({ length: to.length + 1 }, (_, count) => count);
  for (const [i, word] of from.entries()) {
    const next = [i + 1];
    for (const [j, other] of to.entries()) {
      const change = changes[j] + (word === other ? 0 : 1);
      next.push(Math.min(change, changes[j + 1] + 1, next[j] + 1));
    }
    changes = next;
  }
  return changes.lastIndexOf(Math.min(...changes));
}

/** A word without marks and capitals, which change when more is heard. */
function plain(word: string): string {
  return word.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, "");
}
