// Modelfiles: what is read, what is refused with its line, and that what is written reads back.

import { assertEquals, assertThrows } from "@std/assert";
import {
  formatModelfile,
  formatParameters,
  parseModelfile,
} from "../../../engine/create/modelfile.ts";
import { RequestError } from "../../../engine/errors.ts";
import type { ModelDefaults, ModelSource, StoreEntry } from "../../../engine/store/mod.ts";
import { fakeInfo } from "../../server/fake_model.ts";

const nothing = { adapters: [], controlVectors: [], parameters: {}, messages: [], license: [] };

function entryOf(defaults: Partial<ModelDefaults>, source?: ModelSource): StoreEntry {
  return {
    name: "mario:latest",
    size: 1,
    modified: new Date(0),
    info: fakeInfo,
    source: source ?? { kind: "files", path: "/blobs/sha256-1", adapters: [] },
    defaults: { parameters: {}, messages: [], license: [], ...defaults },
  };
}

Deno.test("parseModelfile() reads every instruction, keywords in any case", () => {
  const model = parseModelfile(`
# A comment, and a line with nothing but spaces
   
from gemma3:1b
FROM ./mmproj.gguf
Parameter temperature 0.25
PARAMETER num_ctx 4096
PARAMETER top_k   -1
PARAMETER use_mmap false
PARAMETER stop <|end|>
parameter stop "  two words "
PARAMETER temperature 1e-2
TEMPLATE """{{ .System }}
  {{ .Prompt }}"""
SYSTEM You are # Mario.
ADAPTER ./lora.gguf
MESSAGE user Who are you?
message Assistant """It's-a me,
Mario!"""
LICENSE MIT
LICENSE """
Apache
"""
REQUIRES v0.14.0
RENDERER qwen3-coder
PARSER qwen3-coder
DRAFT gemma3:270m
`);
  assertEquals(model, {
    from: ["gemma3:1b", "./mmproj.gguf"],
    adapters: ["./lora.gguf"],
    controlVectors: [],
    parameters: {
      temperature: 0.01,
      num_ctx: 4096,
      top_k: -1,
      use_mmap: false,
      stop: ["<|end|>", "  two words "],
    },
    messages: [
      { role: "user", content: "Who are you?" },
      { role: "assistant", content: "It's-a me,\nMario!" },
    ],
    license: ["MIT", "\nApache\n"],
    template: "{{ .System }}\n  {{ .Prompt }}",
    system: "You are # Mario.",
    requires: "0.14.0",
    renderer: "qwen3-coder",
    parser: "qwen3-coder",
    draft: "gemma3:270m",
  });
});

const values: [text: string, value: string][] = [
  [`"""\nThis is a\nmultiline system.\n"""`, "\nThis is a\nmultiline system.\n"],
  [`"""This is a\nmultiline system."""  `, "This is a\nmultiline system."],
  [`"""a "quoted" word"""`, 'a "quoted" word'],
  [`"""first   \n\n   last"""`, "first   \n\n   last"],
  [`""""""`, ""],
  [`""`, ""],
  [`"'"`, "'"],
  [`"two\nlines"`, "two\nlines"],
  [`"You" are "Mario"`, 'You" are "Mario'],
  [`"""''"'""'""'"'''''""'""'"""`, `''"'""'""'"'''''""'""'`],
  ["plain text with 'quotes' and \"more\"", "plain text with 'quotes' and \"more\""],
  ["trailing blanks go  \t", "trailing blanks go"],
  ["günther 😀 你好", "günther 😀 你好"],
  ['$"a\\n\\"\\"\\"\\nb\\u00e9"  ', 'a\n"""\nbé'],
  ['$"no JSON', '$"no JSON'],
  ['$"no" JSON"', '$"no" JSON"'],
];

for (const [text, value] of values) {
  Deno.test(`parseModelfile() reads the value ${JSON.stringify(text)}`, () => {
    for (const eol of ["\n", "\r\n"]) {
      const source = `FROM x\nSYSTEM ${text}\nPARAMETER seed 1\n`.replaceAll("\n", eol);
      const { system, parameters } = parseModelfile(source);
      assertEquals([system, parameters], [value, { seed: 1 }]);
    }
    assertEquals(parseModelfile(`FROM x\nSYSTEM ${text}`).system, value);
  });
}

const faults: [source: string, sentence: string][] = [
  ["", "Cannot read the Modelfile: no FROM line"],
  ["# FROM x\n", "no FROM line"],
  ["FROM x\nBADCOMMAND y", 'line 2: unknown instruction "BADCOMMAND", not one of FROM'],
  ["FROM", "line 1: FROM lacks its value"],
  ["FROM x\nSYSTEM   \nLICENSE y", "line 2: SYSTEM lacks its value"],
  ["FROM x\n\nPARAMETER temperature", "line 3: PARAMETER lacks its value"],
  ["FROM x\nPARAMETER temperature hot", "line 2: parameter temperature must be of type number"],
  ["FROM x\nPARAMETER seed 1.5", "line 2: parameter seed must be of type integer"],
  ["FROM x\nPARAMETER use_mmap maybe", "line 2: parameter use_mmap must be of type boolean"],
  ["FROM x\nPARAMETER warmth 1", "line 2: unknown parameter 'warmth'"],
  ["FROM x\nPARAMETER __proto__ 1", "line 2: unknown parameter '__proto__'"],
  ["FROM x\nMESSAGE robot hi", "line 2: message role must be one of system, user, assistant"],
  ["FROM x\nMESSAGE user", "line 2: MESSAGE lacks its value"],
  ["FROM x\nREQUIRES new", "line 2: requires must be a valid semver (e.g. 0.14.0)"],
  ["FROM x\nDRAFT", "line 2: DRAFT lacks its value"],
  ["FROM x\nCONTROL", "line 2: CONTROL lacks its value"],
  ["FROM x\nCONTROL a.gguf much", 'line 2: the scale of CONTROL must be a number, not "much"'],
  ["FROM x\nCONTROL my a.gguf 1", 'not "a.gguf 1"; a path with spaces has to be in quotes'],
  ["FROM x\nCONTROL a.gguf 1e999", 'must be a number, not "1e999"'],
  ['FROM x\nCONTROL "a b.gguf 1', 'must be a number, not "b.gguf 1"'],
  ['FROM x\n\nSYSTEM """This is not closed.""\n\n', "line 3: the quotes that open here"],
  ['FROM x\nSYSTEM "', "line 2: the quotes that open here are never closed"],
];

for (const [source, sentence] of faults) {
  Deno.test(`parseModelfile() refuses ${JSON.stringify(source)}`, () => {
    assertThrows(() => parseModelfile(source), RequestError, sentence);
  });
}

Deno.test("parseModelfile() decodes bytes by their byte order mark, as UTF-8 without one", () => {
  const text = "FROM x\nSYSTEM grüß 😀";
  const utf16 = (littleEndian: boolean) => {
    const view = new DataView(new ArrayBuffer(2 * text.length + 2));
    view.setUint16(0, 0xfeff, littleEndian);
    for (let i = 0; i < text.length; i++) {
      view.setUint16(2 * i + 2, text.charCodeAt(i), littleEndian);
    }
    return new Uint8Array(view.buffer);
  };
  const utf8 = new TextEncoder().encode(text);
  for (
    const bytes of [utf8, utf16(true), utf16(false), new TextEncoder().encode(`\ufeff${text}`)]
  ) {
    assertEquals(parseModelfile(bytes), { from: ["x"], ...nothing, system: "grüß 😀" });
  }
  assertThrows(() => parseModelfile(Uint8Array.of(70, 255)), RequestError, "no text in UTF-8");
});

Deno.test("parseModelfile() reads control vectors, whose scale is 1 if it is left out", () => {
  const lines = [
    "glad",
    "./happy.gguf 0.8",
    'a.gguf "-2"',
    '"/my files/a.gguf"  -1e-1 ',
    '$"a\\tb" 2',
  ];
  const text = ["FROM x", ...lines.map((line) => `control ${line}`)].join("\n");
  assertThrows(() => parseModelfile(text.replace("-2", "two")), RequestError, 'not "two"');
  assertEquals(parseModelfile(text).controlVectors, [
    { name: "glad", scale: 1 },
    { name: "./happy.gguf", scale: 0.8 },
    { name: "a.gguf", scale: -2 },
    { name: "/my files/a.gguf", scale: -0.1 },
    { name: "a\tb", scale: 2 },
  ]);
});

Deno.test("formatModelfile() writes what `ollama show --modelfile` writes", () => {
  const source: ModelSource = {
    kind: "files",
    path: "/blobs/sha256-1",
    projector: "/blobs/sha256-2",
    adapters: ["/blobs/sha256-3"],
  };
  const text = formatModelfile(entryOf({
    template: "{{ .Prompt }}",
    system: "Be\nshort.",
    parameters: { stop: ["<|a|>", " b"], temperature: 0.5 },
    messages: [{ role: "user", content: 'Say "x"\ntwice' }],
    license: ["MIT"],
    renderer: "r",
    parser: "p",
    requires: "0.14.0",
  }, source));
  assertEquals(
    text,
    `# Modelfile generated by "ollama show"
# To build a new Modelfile based on this, replace FROM with:
# FROM mario:latest

FROM /blobs/sha256-1
FROM /blobs/sha256-2
ADAPTER /blobs/sha256-3
TEMPLATE {{ .Prompt }}
SYSTEM "Be
short."
RENDERER r
PARSER p
REQUIRES 0.14.0
PARAMETER stop <|a|>
PARAMETER stop " b"
PARAMETER temperature 0.5
LICENSE MIT
MESSAGE user """Say "x"
twice"""
`,
  );
  const remote = entryOf({}, { kind: "remote", host: "http://h:1", model: "gpt-oss:120b" });
  assertEquals(formatModelfile(remote).includes("\nFROM gpt-oss:120b\n"), true);
});

/** Texts of few characters, among them all that mean something to a Modelfile. */
function randomTexts(count: number): string[] {
  let seed = 7;
  const draw = (bound: number) => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return (seed >>> 8) % bound;
  };
  const parts = [
    '"',
    '"""',
    "\n",
    "\r\n",
    "\r",
    " ",
    "\t",
    "$",
    "\\",
    "#",
    "a",
    "FROM x",
    "'",
    "é",
  ];
  return Array.from({ length: count }, () =>
    "x".repeat(draw(2)) +
    Array.from({ length: 1 + draw(7) }, () => parts[draw(parts.length)]).join(""));
}

Deno.test("what formatModelfile() writes, parseModelfile() reads back, whatever the texts are", () => {
  const texts = [
    "plain",
    " spaces around ",
    '"quoted"',
    '"',
    "# no comment",
    "line\n\n  # line\n",
    '"open\n',
    "a\tb\t",
    "FROM y\nSYSTEM z",
    'ends in a quote"',
    'two\nlines"',
    'ends in three"""',
    'three at the end of a line"""\nand more',
    '"""three"""\n"""again"""',
    '"""',
    '""""""\n',
    '"""\n"""\n',
    "back\\slashes \\n \\",
    "\n\nlines around\n\n",
    "ends\r\nas\rWindows\r\n",
    '$"not JSON',
    '$"a\\tb"',
    "\ud800 lone",
    "\ufeff\u00a0\u2028",
    ...randomTexts(400),
  ];
  for (const text of texts) {
    const defaults = {
      template: text,
      system: text,
      parameters: { stop: [text, "x"], seed: -5, min_p: 0.125, numa: true },
      messages: [{ role: "assistant", content: text }],
      license: [text, text],
    };
    const source: ModelSource = {
      kind: "files",
      path: `/a folder/${text}`,
      projector: "/two  spaces ",
      adapters: [text, `/lora ${text}`],
      draft: text,
    };
    const controlVectors = [{ path: text, scale: -0.5 }, { path: `/a ${text}`, scale: 1e-7 }];
    assertEquals(
      parseModelfile(formatModelfile(entryOf({ ...defaults, controlVectors }, source))),
      {
        from: [`/a folder/${text}`, "/two  spaces "],
        adapters: [text, `/lora ${text}`],
        controlVectors: controlVectors.map(({ path, scale }) => ({ name: path, scale })),
        draft: text,
        ...defaults,
      },
    );
  }
});

Deno.test("formatModelfile() makes comments of parameters that no Modelfile can set", () => {
  const parameters = { top_k: 3, speed: "fast\nSYSTEM x", temperature: "hot" };
  const text = formatModelfile(entryOf({ parameters }));
  assertEquals(parseModelfile(text), {
    ...nothing,
    from: ["/blobs/sha256-1"],
    parameters: { top_k: 3 },
  });
  for (const line of ['\n# PARAMETER speed "fast SYSTEM x"\n', "\n# PARAMETER temperature hot\n"]) {
    assertEquals(text.includes(line), true, text);
  }
});

Deno.test("formatParameters() has a line per value, names filled up to 30", () => {
  assertEquals(
    formatParameters({ temperature: 0.5, stop: ["<|a|>", "b"], use_mmap: true }),
    'stop                           "<|a|>"\n' +
      'stop                           "b"\n' +
      "temperature                    0.5\n" +
      "use_mmap                       true",
  );
  assertEquals(formatParameters({}), "");
});
