// BERT's normalization of characters before WordPiece: what each becomes, and whether it is a
// letter, separates words, is a word of its own, or is dropped. Results are cached, because Unicode
// properties are slow. Devlin et al. 2019, BasicTokenizer; the details are those of llama.cpp,
// which keeps the first character of a decomposition and drops the others, whether they are accents
// or not.

const blank = /^\p{White_Space}$/u;
const ignored = /^[\0\uFFFD\p{Cc}\p{Cf}\p{Co}\p{Cs}]$/u;
const accent = /^\p{M}$/u;
const punctuation = /^(?:\p{P}|[$+<=>^`|~])$/u;
const ideograph =
  /^[\u3400-\u4DBF\u4E00-\u9FFF\uF900-\uFAFF\u{20000}-\u{2A6DF}\u{2A700}-\u{2B81F}\u{2B920}-\u{2CEAF}\u{2F800}-\u{2FA1F}]$/u;

/** BERT's classes of characters. They are above 0, because 0 means "not known yet". */
export const CharacterClass = { letter: 1, blank: 2, ignored: 3, alone: 4 } as const;

/** Bits for a code point. */
const CODE_POINT = 21;

/** Normalizes case and accents, as a vocabulary wants it. */
export class BertNormalizer {
  readonly #lowercases: boolean;
  readonly #stripsAccents: boolean;
  /** For each code point its class, above the code point that it becomes; 0 if not known yet. */
  readonly #known = new Uint32Array(0x110000);

  constructor(lowercases: boolean, stripsAccents: boolean) {
    this.#lowercases = lowercases;
    this.#stripsAccents = stripsAccents;
  }

  /** The class of a character, one of `CharacterClass`. */
  classOf(codePoint: number): number {
    return this.#read(codePoint) >>> CODE_POINT;
  }

  /** The code point that a character becomes. */
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

/** The code points after the first one of a decomposition are accents, which are dropped. */
function firstOf(text: string): string {
  return String.fromCodePoint(text.codePointAt(0)!);
}
