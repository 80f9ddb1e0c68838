// Words that no list has: syllable by syllable, with an ending of English or of another language.
// Whoever learns from them learns to copy letters, not to know a list.

import type { Random } from "../random.ts";

const table = (text: string): string[] => text.split(" ");

const ONSETS = table(
  "b c d f g h j k l m n p r s t v w y z b c d f g h k l m n p r s t b c d f h l m n p r s t b c m p s t " +
    "bl br ch ch cl cr dr fl fr gl gr gn kl kn kr ph pl pr qu rh sc sch sh sh sk sl sm sn sp st st str " +
    "sw th th tr tw wh wr x",
);
const VOWELS = table(
  "a e i o u a e i o u a e i o a e i o a e y ai au ay ea ee ei eu ia ie io oa oi oo ou ow ue",
);
/** Between two vowels. */
const MIDDLES = table(
  "b c d f g h j k l m n p r s t v w x z b c d g l m n p r s t v l m n r s t l n r t bb bl br ch ck ct dd " +
    "dl ff ft gg gr lb ld lf ll lm lt lv mb mm mp nc nd ng nk nn ns nt ph pl pp pr ps qu rb rc rd rg " +
    "rk rl rm rn rr rs rt rv sc sh sk sp ss st str sw tch th tl tr tt zz",
);
/** After the last vowel: at times nothing, at times a whole syllable. */
const CODAS = [
  ...table(
    "b d f g k l m n p r s t w x z l m n r s t d n r s t ck ct ff ft ld ll lm lt mp nch nd ng nk nn ns " +
      "nt ph pt rd rk rl rm rn rs rt sh sk sp ss st tch th ts tt be ce de ge ke le me ne pe re se te ve " +
      "by dy ley ly my ny ry ty berg bury dom field ford ful gar ka ko kov land les less ling man ment " +
      "na ness nik no ra ro sen son sson ska ster ta tion to ton tor ture ty vich ville ward wood za zo",
  ),
  "",
  "",
  "",
  "",
  "",
  "",
];
/** After a consonant. */
const ENDINGS = table(
  "a able age aki al an ant ard as ate ea ella elle en ence ent er er ero ers es et ette ez i ia ian ic " +
    "ica ie ier in ina ine ing ings ini ion ios is ish ism ist ito ium o on os ous ov ow ows um ura us y",
);

/** Short words of which compounds are made, as backpack and overcast are. */
const SHORT_WORDS = table(
  "air all and arm ash back ball bed bell bird black blue boat book box brush car cast day door down dry " +
    "ear east eye fall farm fire fish fly foot for free full gold grand green guest hand hard head her hill " +
    "home horse hot house ice in ion key land law let life light line long man mark mind moon more mother " +
    "new night no nor not note now old on one out over pack paper part pass pay pen pin place play post " +
    "rain red rest ring river road rock room round sail salt sand sea set shop side sign silver sky snow some " +
    "song south star step stone stop storm sun tea ten the time top town tree under up wall war watch water way " +
    "web week well west what wheel where white wild win wind with wood word work world yard year you",
);
/**
 * Words that stand everywhere in sentences, and the short names of months and days. Each is a token
 * that is known from there: as a part of a name, or of a text to be copied, it has to be learnt.
 */
const COMMON_WORDS = table(
  "about after again all also and another any are around ask away back because been before both but by call " +
    "can carry come could day did do does each end even every find first for from get give go good great had " +
    "has have he help here him his how if in into is it its just kind know large last like little look " +
    "make many may me mean most much must my name near need next no none number of off often old on ones only " +
    "or other our own people please put read right said same say see she should show since small so " +
    "some soon such take tell tens than that the their them then there these they thing think this time today " +
    "too try turn two until up upon us use very want was we well were what when where which while who why " +
    "will with word would write year yes you your jan feb mar apr jun jul aug sep oct nov dec mon tue " +
    "wed thu fri sat sun",
);
/** Share of the words that are compounds. */
const COMPOUNDS = 0.35;

const LEAST_LETTERS = 3;
const MOST_LETTERS = 12;

/** A made-up word in small letters. */
export function madeUpWord(random: Random): string {
  for (;;) {
    if (random.chance(COMPOUNDS)) return compound(random);
    let word = (random.chance(0.12) ? "" : random.pick(ONSETS)) + random.pick(VOWELS);
    for (let left = random.pick([0, 0, 0, 0, 1, 1, 2]); left > 0; left--) {
      word += random.pick(MIDDLES) + random.pick(VOWELS);
    }
    word += random.chance(0.5) ? random.pick(CODAS) : random.pick(MIDDLES) + random.pick(ENDINGS);
    if (word.length >= LEAST_LETTERS && word.length <= MOST_LETTERS) return word;
  }
}

/** Two short words, or one with an ending, so that a known beginning says nothing of what follows. */
function compound(random: Random): string {
  for (;;) {
    const first = random.pick(random.chance(0.5) ? SHORT_WORDS : COMMON_WORDS);
    const word = first + random.pick(random.chance(0.6) ? SHORT_WORDS : ENDINGS);
    if (word.length >= LEAST_LETTERS && word.length <= MOST_LETTERS) return word;
  }
}

/** A word that is known from everywhere, for places where it makes no sense. */
export function commonWord(random: Random): string {
  return random.pick(COMMON_WORDS);
}
