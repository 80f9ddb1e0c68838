// How BERT sees a character before WordPiece: what it becomes, and whether it ends a word, stands
// alone or does not count. Answers are kept, because Unicode properties are slow to ask for.
// Devlin et al. 2019, BasicTokenizer; details in the reading of llama.cpp, which takes the first
// character of a decomposition and drops the others, accents or not.

const blank = /^\p{White_Space}$/u;
const ignored = /^[\0\uFFFD\p{Cc}\p{Cf}\p{Co}\p{Cs}]$/u;
const accent = /^\p{M}$/u;
const punctuation = /^(?:\p{P}|[$+<=>^`|~])$/u;
const ideograph =
  /^[\u3400-\u4DBF\u4E00-\u9FFF\uF900-\uFAFF\u{20000}-\u{2A6DF}\u{2A700}-\u{2B81F}\u{2B920}-\u{2CEAF}\u{2F800}-\u{2FA1F}]$/u;

/** What a character is to BERT; above 0, so that 0 can say that it is not known yet. */
export const CharacterClass = { letter: 1, blank: 2, ignored: 3, alone: 4 } as const;

/** Bits of a code point. */
const CODE_POINT = 21;

/** Lower case and accents, as a vocabulary wants them. */
export class BertNormalizer {
  readonly #lowercases: boolean;
  readonly #stripsAccents: boolean;
  /** By code point: its class above the code point that it becomes; 0 where it is not known yet. */
  readonly #known = new Uint32Array(0x110000);

  constructor(lowercases: boolean, stripsAccents: boolean) {
    this.#lowercases = lowercases;
    this.#stripsAccents = stripsAccents;
  }

  /** One of `CharacterClass`. */
  classOf(codePoint: number): number {
    return this.#read(codePoint) >>> CODE_POINT;
  }

  /** The code point that stands for it. */
  normalized(codePoint: number): number {
    return this.#read(codePoint) & (1 << CODE_POINT) - 1;
  }

  #read(codePoint: number): number {
    return this.#known[codePoint] ||= this.#classify(String.fromCodePoint(codePoint));
  }

  #classify(character: string): number {
    const plain = this.#stripsAccents ? firstOf(character.normalize("NFD")) : character;
    const normal = this.#lowercases ? firstOf(plain.toLowerCase()) : plain;
    return this.#kindOf(plain) << CODE_POINT | normal.codePointAt(0)!;
  }

  #kindOf(character: string): number {
    if (blank.test(character)) return CharacterClass.blank;
    if (ignored.test(character)) return CharacterClass.ignored;
    if (this.#stripsAccents && accent.test(character)) return CharacterClass.ignored;
    const isAlone = punctuation.test(character) || ideograph.test(character);
    return isAlone ? CharacterClass.alone : CharacterClass.letter;
  }
}

/** What follows the first code point of a decomposition is an accent, which is dropped anyway. */
function firstOf(text: string): string {
  return String.fromCodePoint(text.codePointAt(0)!);
}
