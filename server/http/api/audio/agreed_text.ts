// What is said so far in a sound that grows: text is sent once two passes in a row agree on it ("local
// agreement": Liu et al. 2020; for Whisper, Macháček et al. 2023), and nothing is taken back. Pure.

/** Words; in scripts without spaces, characters. With the space before, and the marks behind. */
const WORDS = new RegExp(
  String.raw`\s*(?:[${scripts()}][^\s\p{L}\p{N}]*|[^\s${scripts()}]+)(?:\s+$)?`,
  "gu",
);

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
  /** The words of the last pass, segment by segment. */
  #heard: string[][] = [];

  /** What was sent of the sound that passes no longer hear. */
  get settled(): string {
    return this.#sent.slice(0, this.#settled).join("");
  }

  /**
   * Takes the texts of the segments of a pass, and gives what can be sent: what the last pass found, too,
   * but for the word at the very end, of which more may be heard.
   */
  take(segments: readonly string[]): string {
    const earlier = this.#rest();
    this.#heard = segments.map(wordsOf);
    const now = this.#rest();
    let count = 0;
    while (count < now.length - 1 && now[count] === earlier[count]) count++;
    return this.#send(now.slice(0, count));
  }

  /** How many segments of the last pass were sent to their end. */
  get wholeSegments(): number {
    let covered = coveredBy(this.#unsettled, this.#heard.flat());
    const open = this.#heard.findIndex((words) => (covered -= words.length) < 0);
    return open < 0 ? this.#heard.length : open;
  }

  /** Passes to come no longer hear the first segments of the last one, which were sent. */
  settle(count: number): void {
    const covered = coveredBy(this.#unsettled, this.#heard.flat());
    const gone = this.#heard.slice(0, count).flat().length;
    this.#settled = Math.max(this.#settled, this.#sent.length - (covered - gone));
    this.#heard = this.#heard.slice(count);
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
    const words = this.#heard.flat();
    return words.slice(coveredBy(this.#unsettled, words));
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
