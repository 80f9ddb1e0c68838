// Sequences of keys to the text, with a bar where the cursor is.

import { assertEquals } from "@std/assert";
import { KeyDecoder } from "../../../../server/cli/repl/keys.ts";
import {
  type EditorAction,
  LineEditor,
  type LineEditorOptions,
} from "../../../../server/cli/repl/line_editor.ts";

/** Types a text with names of keys in angle brackets, such as `ab<left>c`. */
function type(editor: LineEditor, keys: string): EditorAction | void {
  let action: EditorAction | void = undefined;
  for (const [, name, text] of keys.matchAll(/<([^<>]+)>|([^<>]+)/g)) {
    action = editor.press(name ? { name, text: "" } : { name: "text", text: text! });
  }
  return action;
}

function show({ text, cursor }: LineEditor): string {
  return `${text.slice(0, cursor)}|${text.slice(cursor)}`;
}

const HISTORY = ["git status", "deno fmt", "deno test\n--all"];

const CASES: [keys: string, shown: string, options?: LineEditorOptions][] = [
  ["abc", "abc|"],
  ["abc<left><left>x", "ax|bc"],
  ["abc<ctrl+b><ctrl+b><ctrl+f>x", "abx|c"],
  ["abc<home>x<end>y", "xabcy|"],
  ["abc<ctrl+a><right><delete>", "a|c"],
  ["abc<left><backspace>", "a|c"],
  ["<backspace><left><delete>a<right>", "a|"],
  ["abc<left><ctrl+d>", "ab|"],
  // One grapheme is one step: a flag, a family, a letter with its mark, a character of two units.
  ["a🇩🇪<left>", "a|🇩🇪"],
  ["a👨‍👩‍👧<backspace>", "a|"],
  ["ae\u0301<left>", "a|e\u0301"],
  ["日本語<left><backspace>", "日|語"],
  ["one two-three<alt+b>", "one two-|three"],
  ["one two-three<alt+b><alt+b><alt+b>", "|one two-three"],
  ["one two<home><alt+f>", "one| two"],
  ["one two<home><ctrl+right><ctrl+right>", "one two|"],
  ["one two-three  <ctrl+w>", "one |"],
  ["one two-three<alt+backspace>", "one two-|"],
  ["one two<home><alt+d>", "| two"],
  ["one two<ctrl+left><ctrl+u>", "|two"],
  ["one two<ctrl+left><ctrl+k>", "one |"],
  ["one two<ctrl+w><home><ctrl+y>", "two|one "],
  ["a<alt+enter>b", "a\nb|"],
  ["ab<alt+enter>cd<ctrl+a>x<up><ctrl+e>y", "aby|\nxcd"],
  ["abc<alt+enter>d<up>", "a|bc\nd"],
  ["a<alt+enter>bcd<up><down>", "a\nb|cd"],
  ["ab<alt+enter><left><ctrl+k>cd", "abcd|"],
  ["ab<alt+enter>cd<ctrl+u>", "ab\n|"],
  // History: the text that was being typed comes back.
  ["x<up>", "deno test\n--all|", { history: HISTORY }],
  ["x<up><up><up>", "deno fmt|", { history: HISTORY }],
  ["x<ctrl+p><up><ctrl+p><up><up>", "git status|", { history: HISTORY }],
  ["x<up><down>", "x|", { history: HISTORY }],
  ["x<down>", "x|", { history: HISTORY }],
  ["x<up>", "x|"],
  // Search: narrows, goes on, and ends with what was found.
  ["<ctrl+r>deno", "deno test\n--all|", { history: HISTORY }],
  ["<ctrl+r>deno<ctrl+r>", "deno fmt|", { history: HISTORY }],
  ["<ctrl+r>deno<ctrl+r><ctrl+r><ctrl+r>", "deno fmt|", { history: HISTORY }],
  ["<ctrl+r>st<right>x", "deno test\n--allx|", { history: HISTORY }],
  ["<ctrl+r>stz<backspace>a<end>", "git status|", { history: HISTORY }],
  ["x<ctrl+r>git<ctrl+g>", "x|", { history: HISTORY }],
  ["x<ctrl+r>nothing<left>", "|x", { history: HISTORY }],
];

Deno.test("LineEditor edits as its keys say", () => {
  for (const [keys, shown, options] of CASES) {
    const editor = new LineEditor(options);
    type(editor, keys);
    assertEquals(show(editor), shown, keys);
  }
});

Deno.test("LineEditor never has its cursor within a grapheme", () => {
  const editor = new LineEditor();
  const starts = (text: string) =>
    new Set([...new Intl.Segmenter().segment(text)].map(({ index }) => index).concat(text.length));
  const keys = ["left", "right", "up", "down", "alt+b", "alt+f", "home", "end", "backspace"];
  const texts = ["a", "e\u0301", "🇩🇪", "日", " ", "\n", "👩‍🚀"];
  let seed = 7;
  const next = (count: number) => (seed = (seed * 48271) % 2147483647) % count;
  for (let step = 0; step < 3000; step++) {
    if (next(2) === 0) editor.press({ name: "paste", text: texts[next(texts.length)]! });
    else editor.press({ name: keys[next(keys.length)]!, text: "" });
    if (!starts(editor.text).has(editor.cursor)) {
      throw new Error(`step ${step}: cursor ${editor.cursor} in ${JSON.stringify(editor.text)}`);
    }
    if (editor.text.length > 60) editor.press({ name: "ctrl+u", text: "" });
  }
});

Deno.test("LineEditor says what its owner is to do", () => {
  const cases: [keys: string, action: EditorAction | undefined][] = [
    ["a<enter>", "submit"],
    ["<ctrl+d>", "end"],
    ["a<left><ctrl+d>", undefined],
    ["a<ctrl+c>", "cancel"],
    ["<ctrl+l>", "clear"],
    ["<ctrl+z>", "suspend"],
    ["<ctrl+q>", undefined],
    ["<ctrl+r>a<ctrl+c>", undefined],
  ];
  for (const [keys, action] of cases) {
    assertEquals(type(new LineEditor(), keys) ?? undefined, action, keys);
  }
  const searching = new LineEditor({ history: HISTORY });
  assertEquals([type(searching, "<ctrl+r>git<enter>"), searching.text], ["submit", "git status"]);
});

Deno.test("Enter puts in a line feed while a text is not complete", () => {
  const editor = new LineEditor({ isComplete: (text) => text.endsWith(".") });
  assertEquals([type(editor, "a<enter>b"), show(editor)], [undefined, "a\nb|"]);
  assertEquals(type(editor, ".<enter>"), "submit");
});

Deno.test("what is pasted keeps its lines and loses what would steer the terminal", () => {
  const editor = new LineEditor();
  const bytes = new TextEncoder().encode("\x1b[200~one\r\n\ttwo\rthree\x1b[31m\x07\x1b[201~");
  for (const key of new KeyDecoder().push(bytes)) editor.press(key);
  assertEquals(show(editor), "one\n\ttwo\nthree[31m|");
});
