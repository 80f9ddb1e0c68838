// Whole grammars in GBNF, and texts that they allow, refuse or could still become.

import { assert, assertEquals, assertThrows } from "@std/assert";
import { compileGrammar, GrammarError } from "../../../../engine/grammar/mod.ts";
import { fateOf, randomNumbers, smallTokenizer, tokensOf } from "../small_tokenizer.ts";

const tokenizer = smallTokenizer(
  ['{"', '":', '", "', "tru", "e}", "- ", "\n", "1. e4", " e5\n", "((", "))", " = ", "👍", "e4 "],
  ["<think>", "</think>"],
);

const JSON_TEXT = String.raw`
root   ::= object
value  ::= object | array | string | number | ("true" | "false" | "null") space
object ::= "{" space ( member ("," space member)* )? "}" space
member ::= string ":" space value
array  ::= "[" space ( value ("," space value)* )? "]" space
string ::= "\"" ( [^"\\\x7F\x00-\x1F] | "\\" (["\\bfnrt/] | "u" [0-9a-fA-F]{4}) )* "\"" space
number ::= "-"? ("0" | [1-9] [0-9]{0,15}) ("." [0-9]+)? ([eE] [-+]? [0-9]{1,3})? space
space  ::= | " " | "\n" [ \t]{0,20}
`;

const ARITHMETIC = String.raw`
root  ::= (sum " = " value "\n")+
sum   ::= value ([-+*/] value)*
value ::= [a-z] [a-z0-9_]* | [0-9]+ | "(" sum ")"
`;

const CHESS = String.raw`
root ::= (
    # the first move is number 1
    "1. " move " " move "\n"

    ([1-9] [0-9]? ". " move " " move "\n")+
)
move   ::= (pawn | piece | castle) [+#]?
piece  ::= [NBKQR] [a-h]? [1-8]? "x"? [a-h] [1-8]
pawn   ::= ([a-h] "x")? [a-h] [1-8] ("=" [NBKQR])?
castle ::= "O-O" "-O"?
`;

const CASES: [
  name: string,
  grammar: string,
  fates: Record<string, "complete" | "open" | "refused">,
][] = [
  ["a list", 'root ::= ("- " item)+\nitem ::= [^\\n]+ "\\n"', {
    "- one\n": "complete",
    "- one\n- é\n": "complete",
    "- one": "open",
    "": "open",
    "one": "refused",
    "- \n": "refused",
  }],
  ["JSON", JSON_TEXT, {
    "{}": "complete",
    '{"a": [1, -2.5e+10, {"b": null}], "c\\u00e9é": "\\n"}\n  ': "complete",
    '{"a": [': "open",
    "[]": "refused",
    '{"a": 01}': "refused",
    '{"a": "\n"}': "refused",
    '{"a": tru}': "refused",
    '{"a": 1,}': "refused",
  }],
  ["arithmetic", ARITHMETIC, {
    "x+(3*y_1-((4)))/2 = 7\n": "complete",
    "x = 1\ny = (x)\n": "complete",
    "((((": "open",
    "(x)) = 1\n": "refused",
    "x = 1": "open",
    "3x = 1\n": "refused",
  }],
  ["chess", CHESS, {
    "1. e4 e5\n2. Nf3 Nc6\n": "complete",
    "1. e4 e5\n": "open",
    "1. e4 e5\n10. O-O-O Qxf7#\n": "complete",
    "1. e4 e5\n2. exd8=Q+ ": "open",
    "2. e4 e5\n": "refused",
    "1. e9": "refused",
  }],
  ["characters beyond ASCII", 'root ::= [ぁ-ゟ]+ ("é" | [^\\x00-\\x7F]) "\\U0001F44D"{2}', {
    "ひらéががé👍👍": "refused",
    "ひらé👍👍": "complete",
    "ひらが👍👍": "complete",
    "ひ👍👍👍": "complete",
    "ひ👍👍": "open",
    "a": "refused",
  }],
  ["recursion on both sides", 'root ::= "a" root "b" | "a" root | ""', {
    "": "complete",
    "aaa": "complete",
    "aaabbb": "complete",
    "aaab": "complete",
    "aabbb": "refused",
    "ba": "refused",
  }],
  ["empty rounds", 'root ::= ("a"? root2){2,4} "b"*\nroot2 ::= "c" root2 "c" | [d]?', {
    "": "complete",
    "adadadad": "complete",
    "adadadada": "refused",
    "accdccab": "complete",
    "accdcab": "refused",
  }],
  ["control tokens", "root ::= <think> !</think>* </think> [a-z]+", {
    "<think>any\n<b>text</b></think>abc": "complete",
    "<think></think>": "open",
    "<think><think>": "refused",
    "abc": "refused",
  }],
  ["a literal with control tokens", 'root ::= "<think>\\n" [a-z]* "</think>"', {
    "<think>\nab</think>": "complete",
    "<think>\n<": "refused",
  }],
];

for (const [name, grammar, fates] of CASES) {
  Deno.test(`compileGrammar() enforces ${name}`, () => {
    const compiled = compileGrammar(grammar, tokenizer);
    for (const [text, fate] of Object.entries(fates)) {
      assertEquals(fateOf(compiled, tokenizer, text), fate, text);
    }
  });
}

Deno.test("texts that are written at random under a JSON grammar parse", () => {
  const compiled = compileGrammar(JSON_TEXT, tokenizer);
  const random = randomNumbers(5);
  for (let document = 0; document < 20; document++) {
    const matcher = compiled.matcher();
    const bytes: number[] = [];
    for (let remaining = 150; remaining > 0 && !matcher.isEnded; remaining--) {
      const tokens = tokensOf(matcher.mask({ remaining }));
      const token = tokens[Math.floor(random() * tokens.length)]!;
      assert(matcher.accept(token));
      if (!matcher.isEnded) bytes.push(...tokenizer.tokenBytes(token));
    }
    assert(matcher.isComplete, "no end in time");
    JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(Uint8Array.from(bytes)));
  }
});

Deno.test("forced() of a grammar is the text up to the next choice, control token or end", () => {
  const compiled = compileGrammar('root ::= "is: " ("yes" | "yea") <think> "!!"', tokenizer);
  const matcher = compiled.matcher();
  const forced = () => new TextDecoder().decode(matcher.forced());
  const accept = (text: string) => tokenizer.encode(text).every((token) => matcher.accept(token));
  assertEquals(forced(), "is: ye");
  assert(accept("is: yes"));
  assertEquals(forced(), "");
  assert(accept("<think>"));
  assertEquals(forced(), "!!");
  assert(accept("!!") && matcher.isComplete);
});

const REFUSED: [name: string, grammar: string, line: number, reason: RegExp][] = [
  [
    "a rule that begins with itself",
    'root ::= sum\nsum ::= sum "+" [0-9] | [0-9]',
    2,
    /"sum" begins/,
  ],
  [
    "a rule that begins with itself after nothing",
    'root ::= "a"? b\nb ::= [x]* root "c" | "d"',
    1,
    /"root" begins/,
  ],
  ["rules that name each other", "root ::= a\na ::= b | [x]\nb ::= a", 2, /begins with itself/],
  ["a text that never ends", 'root ::= "a" more\nmore ::= "b" more', 1, /no text of "root" ends/],
  ["rounds of nothing", 'root ::= ("" ())* "a"', 1, /repeats nothing/],
  ["a token that is not there", "root ::= <[999999]>", 1, /token 999999/],
  ["another token than one of text", "root ::= !<[97]>", 1, /no control token/],
  ["a lone surrogate", 'root ::= "\\uD800"', 1, /no text/],
];

for (const [name, grammar, line, reason] of REFUSED) {
  Deno.test(`compileGrammar() refuses ${name}`, () => {
    const error = assertThrows(() => compileGrammar(grammar, tokenizer), GrammarError);
    assertEquals(error.line, line, error.message);
    if (!reason.test(error.reason)) throw error;
  });
}

Deno.test("ways of a grammar that never end are left out", () => {
  const compiled = compileGrammar(
    'root ::= "a" ("b" | endless | [x] endless)?\nendless ::= "c" endless',
    tokenizer,
  );
  assertEquals(fateOf(compiled, tokenizer, "ab"), "complete");
  assertEquals(fateOf(compiled, tokenizer, "ac"), "refused");
  assertEquals(fateOf(compiled, tokenizer, "ax"), "refused");
});
