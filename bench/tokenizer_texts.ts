// Texts for the benchmark of tokenizers, made from seeded random numbers: as many different words as
// real texts have, because a tokenizer that remembers words is fast on few of them.

const COMMON =
  "the of and to in is that for it as was with be by on not he his but at are this have " +
  "from or had an they which one you were all her she there would their we him been has when who " +
  "will more no if out so said what up its about into than them can only other new some could time " +
  "these two may then do first any my now such like our over man me even most made after also did " +
  "many before must through back years where much your way well down should because each just those " +
  "people how too little state good very make world still own see men work long get here between";

/** Syllables of scripts, for words that look like their words. */
const SYLLABLES: Readonly<Record<string, string>> = {
  latin:
    "re in con de pro ter al er en ma ti on sta tor ver ing ness ly pre un com per tra lo gi ca",
  accents: "é à ü ö ñ ção são ère möch für dès où gar çon ère ál ří ště čes łą żó ęć",
  greek: "και το της μα λο νι στ ερ ον ιν πα ρα δε κο φι",
  cyrillic: "по не ко то ра на ст ни го ро ен ал ть ова при рас ще же",
  hebrew: "של את על לא הו מי בר שא כן תר",
  arabic: "ال من في على كت مد رس هذ بن نا ون ات",
  hindi: "का के में है की से ना रा ता सं प्र वि",
  thai: "การ ที่ เป็น ไม่ ของ และ ได้ มี",
  hangul: "은 는 이 가 을 를 한 국 어 사 람 하 다 습 니",
  kana: "の に は を た が で と し れ さ ある いる コン ピュ ータ",
};

type Random = (bound: number) => number;

function seeded(seed: number): Random {
  let state = seed;
  return (bound) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state >>> 8) / 2 ** 24 * bound);
  };
}

/** Repeats `make` until the parts have `length` UTF-16 units. */
function repeat(length: number, make: () => string): string {
  const parts: string[] = [];
  for (let units = 0; units < length;) units += parts[parts.push(make()) - 1]!.length;
  return parts.join("").slice(0, length).toWellFormed();
}

/** Words of which a few are frequent and most are rare (Zipf's law). */
function lexicon(random: Random, script: string, size: number, common: string[] = []) {
  const syllables = SYLLABLES[script]!.split(" ");
  const words = [...common];
  while (words.length < size) {
    let word = "";
    for (let count = 1 + random(4); count > 0; count--) word += syllables[random(syllables.length)];
    words.push(word);
  }
  return () => words[Math.floor(size ** (random(1e6) / 1e6)) - 1]!;
}

function sentences(length: number, random: Random, word: () => string): string {
  return repeat(length, () => {
    const words = Array.from({ length: 4 + random(16) }, word);
    words[0] = words[0]![0]!.toUpperCase() + words[0]!.slice(1);
    if (random(6) === 0) words.push(String(random(10_000)));
    return words.join(random(12) === 0 ? ", " : " ") + [". ", "? ", ".\n\n", "; "][random(4)]!;
  });
}

function code(length: number, random: Random): string {
  const word = lexicon(random, "latin", 3000, "value index text size name list node".split(" "));
  return repeat(length, () => {
    const indent = "  ".repeat(1 + random(4));
    return [
      () => `${indent}const ${word()} = this.#${word()}.${word()}(${word()}, ${random(256)});\n`,
      () => `${indent}if (${word()}[${word()}] !== undefined) {\n`,
      () => `${indent}}\n\n`,
      () => `${indent}// ${word()} ${word()} the ${word()} of ${word()}.\n`,
      () => `${indent}return { ${word()}: "${word()}-${word()}", ${word()}: [${random(99)}] };\n`,
    ][random(5)]!();
  });
}

function mixedScripts(length: number, random: Random): string {
  const scripts = Object.keys(SYLLABLES).map((script) => lexicon(random, script, 4000));
  const ideographs = () => String.fromCharCode(0x4e00 + Math.floor(0x3000 ** (random(1e6) / 1e6)));
  const clause = () =>
    Array.from({ length: 4 + random(12) }, ideographs).join("") + "，。"[random(2)];
  const emoji = () => String.fromCodePoint(0x1f600 + random(80)) + " ";
  return repeat(length, () => {
    const kind = random(scripts.length + 3);
    if (kind < scripts.length) {
      return Array.from({ length: 5 + random(10) }, scripts[kind]!).join(" ") + ". ";
    }
    return kind < scripts.length + 2 ? clause() : emoji();
  });
}

/** Texts of `length` UTF-16 units, by kind. */
export function benchmarkTexts(length: number): Readonly<Record<string, string>> {
  const random = seeded(1);
  return {
    English: sentences(length, random, lexicon(random, "latin", 40_000, COMMON.split(" "))),
    "mixed scripts": mixedScripts(length, random),
    code: code(length, random),
  };
}

/** Texts of `length` UTF-16 units without a space, which many tokenizers fail on. */
export function hostileTexts(length: number): Readonly<Record<string, string>> {
  const random = seeded(2);
  return {
    "one letter": "a".repeat(length),
    letters: repeat(length, () => String.fromCharCode(97 + random(26))),
    ideographs: repeat(length, () => String.fromCharCode(0x4e00 + random(0x5000))),
    emoji: repeat(length, () => String.fromCodePoint(0x1f300 + random(0x300))),
  };
}
