// Parameters, words and suggestions of the commands.

import { assertEquals, assertThrows } from "@std/assert";
import {
  CommandError,
  firstWord,
  isComplete,
  textOf,
  wordsOf,
} from "../../../../server/cli/repl/command.ts";
import { parseParameter } from "../../../../server/cli/repl/parameters.ts";
import { nearest } from "../../../../server/text/nearest.ts";

Deno.test("parseParameter() gives values of the parameter's type", () => {
  const cases: [name: string, words: string[], value: unknown][] = [
    ["temperature", ["0.7"], 0.7],
    ["temperature", ["1"], 1],
    ["top_p", [".5"], 0.5],
    ["seed", ["-1"], -1],
    ["num_ctx", ["8192"], 8192],
    ["use_mmap", ["false"], false],
    ["stop", ["a", "b c"], ["a", "b c"]],
  ];
  for (const [name, words, value] of cases) assertEquals(parseParameter(name, words), value);
});

Deno.test("parseParameter() says what is wrong with a value or a name", () => {
  const cases: [name: string, words: string[], message: string][] = [
    ["seed", ["1.5"], 'Cannot set seed to "1.5": it must be an integer, such as 42.'],
    ["seed", ["1", "2"], 'Cannot set seed to "1 2"'],
    ["seed", ["0x10"], "must be an integer"],
    ["seed", ["99999999999999999999"], "must be an integer"],
    ["temperature", ["hot"], "must be a number"],
    ["temperature", ["Infinity"], "must be a number"],
    ["use_mmap", ["1"], "must be true or false"],
    ["temprature", ["1"], 'There is no parameter "temprature". Did you mean "temperature"?'],
    ["constructor", ["1"], 'There is no parameter "constructor". Type /? parameter for all'],
  ];
  for (const [name, words, message] of cases) {
    assertThrows(() => parseParameter(name, words), CommandError, message);
  }
});

Deno.test("nearest() finds the word that was meant, and none where none is near", () => {
  const words = ["/set", "/show", "/load", "/save", "/clear", "/bye"];
  const cases: [string, string | undefined][] = [
    ["/sett", "/set"],
    ["/shwo", "/show"],
    ["/lod", "/load"],
    ["/cle", "/clear"],
    ["/frobnicate", undefined],
    ["/q", undefined],
    ["x", undefined],
  ];
  for (const [word, near] of cases) assertEquals(nearest(word, words), near, word);
});

Deno.test("isComplete() waits for the fence that closes a text", () => {
  const cases: [string, boolean][] = [
    ["hello", true],
    ["two\nlines", true],
    ['say """', true],
    ['"""', false],
    ['"""one', false],
    ['"""one\ntwo', false],
    ['"""one\ntwo"""', true],
    ['"""one\n"""  ', true],
    ['""""""', true],
    ['/set system """You', false],
    ['/set system """You\nare"""', true],
    ["/set system You", true],
  ];
  for (const [text, complete] of cases) assertEquals(isComplete(text), complete, text);
});

Deno.test("textOf() takes fences away", () => {
  assertEquals(textOf('"""one\n two"""'), "one\n two");
  assertEquals(textOf('  """one\n""" '), "one\n");
  assertEquals(textOf(" plain "), "plain");
});

Deno.test("firstWord() and wordsOf() split what was typed", () => {
  assertEquals(firstWord("/set  system a  b "), ["/set", "system a  b"]);
  assertEquals(firstWord('/set system """a\nb"""'), ["/set", 'system """a\nb"""']);
  assertEquals(firstWord(""), ["", ""]);
  assertEquals(wordsOf(`stop "a b" 'c d' "\\n" e"f`), ["stop", "a b", "c d", "\n", 'e"f']);
});
