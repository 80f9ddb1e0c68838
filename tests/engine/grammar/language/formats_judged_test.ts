// Formats judged by others: all that a format lets pass must pass ajv-formats, and what the official suite
// of JSON Schema says of formats, which is optional data, must be so as far as regular languages can tell.

import { assert } from "@std/assert";
import { Ajv } from "ajv";
import addFormats from "ajv-formats";
import { Languages } from "../../../../engine/grammar/language/mod.ts";
import { createDraw } from "./random.ts";
import { share } from "../../../share.ts";

const SUITE = new URL(
  "../../../../../shared/data/schemas/json-schema-test-suite-draft2019-09/optional/format/",
  import.meta.url,
);
/** Formats that ajv-formats does not judge. */
const UNJUDGED = ["idn-email", "idn-hostname", "iri", "iri-reference"];
/** Those that are not of strings, or that any string is of. */
const UNBOUND = new Set(["int32", "int64", "float", "double", "password", "binary"]);
const WALKS = share(80, 300);
/** Most milliseconds of walks in one format. */
const PATIENCE = 2000;

const ajv = new Ajv({ strict: false, logger: false });
addFormats.default(ajv);

const FORMATS = [...UNJUDGED, ...Object.keys(ajv.formats).filter((name) => !UNBOUND.has(name))];

/** Whether Ajv takes a text; true where it does not know the format. */
function ajvTakes(format: string, text: string): boolean {
  return ajv.validate({ format }, text);
}

/** A member: random bytes that the automaton lets pass, in one of three moods; then its completion. */
function drawMember(
  languages: Languages,
  language: number,
  draw: (bound: number) => number,
): string {
  const automaton = languages.automaton(language);
  const bytes: number[] = [];
  const mood = draw(3);
  let state = automaton.start;
  const all = Array.from({ length: (mood === 0 ? 0xf5 : 0x7f) - 0x20 }, (_, i) => 0x20 + i);
  for (let n = draw(60); n > 0; n--) {
    const steps = all.filter((byte) => automaton.step(state, byte) !== 0);
    const signs = steps.filter((byte) => /\W/.test(String.fromCharCode(byte)));
    const choice = mood === 1 && signs.length > 0 && draw(2) === 0 ? signs : steps;
    if (choice.length === 0) break;
    bytes.push(choice[draw(choice.length)]!);
    state = automaton.step(state, bytes.at(-1)!);
  }
  bytes.push(...automaton.completion(state));
  return JSON.parse(
    `"${new TextDecoder("utf-8", { fatal: true }).decode(Uint8Array.from(bytes))}"`,
  );
}

Deno.test("ajv-formats takes random members of every format", () => {
  const draw = createDraw(7);
  for (const format of FORMATS) {
    const languages = new Languages();
    const language = languages.format(format)!;
    const start = performance.now();
    for (let walk = 0; walk < WALKS && performance.now() - start < PATIENCE; walk++) {
      const text = drawMember(languages, language, draw);
      assert(languages.contains(language, text), `${format}: ${JSON.stringify(text)}`);
      assert(ajvTakes(format, text), `${format}: ${JSON.stringify(text)}`);
    }
  }
});

/** Texts that plain users write, by format; Ajv has no doubt of them. */
const PLAIN: Readonly<Record<string, readonly string[]>> = {
  "url": [
    "http://example.com",
    "https://www.example.com/a/b.html?x=1&y=%20#top",
    "ftp://me:secret@files.example.org/pub/",
    "HTTP://example.co.uk:8080",
    "https://münchen.de/straße",
    "http://8.8.8.8/dns-query",
    "https://api.example.com/users/{id}",
  ],
  "byte": ["", "aGVsbG8=", "aGVsbG8h", "YQ=="],
  "iso-time": ["12:34:56", "12:34:56.789Z", "12:34:56+02:00", "12:34:56-0230", "12:34:56+01"],
  "iso-date-time": ["2024-02-29T12:34:56", "2024-02-29 12:34:56Z", "1999-12-31t23:59:59.5+01:00"],
  "date-time": ["2024-02-29T12:34:56Z", "1999-12-31T23:59:59.123+01:00", "2016-12-31T23:59:60Z"],
  "email": ["john.doe@example.com", "a+b@mail.example.co.uk", "o'neil@example.org"],
  "duration": ["P1Y2M3DT4H5M6S", "PT36H", "P2W", "P1D"],
  "json-pointer-uri-fragment": ["#", "#/", "#/foo/0", "#/a~1b/%25"],
};

Deno.test("formats take what plain users write", () => {
  const languages = new Languages();
  for (const [format, texts] of Object.entries(PLAIN)) {
    for (const text of texts) {
      assert(languages.contains(languages.format(format)!, text), `${format}: ${text}`);
      assert(ajvTakes(format, text), `${format}: ${text}`);
    }
  }
});

Deno.test("the format url refuses addresses that are not of the public web, as Ajv does", () => {
  const languages = new Languages();
  const hosts = ["localhost", "10.0.0.1", "127.0.0.1", "172.16.0.1", "172.31.9.9", "192.168.1.1"];
  hosts.push("169.254.1.1", "0.1.2.3", "224.0.0.1", "1.2.3.0", "1.2.3.255", "a..b.com", "-a.com");
  for (const text of [...hosts.map((host) => `http://${host}/`), "example.com", "mailto:a@b.de"]) {
    assert(!languages.contains(languages.format("url")!, text), text);
    assert(!ajvTakes("url", text), text);
  }
});

function exists(url: URL): boolean {
  try {
    return Deno.statSync(url).isDirectory;
  } catch {
    return false;
  }
}

Deno.test({
  name: "formats are what the official suite says where it is present, and Ajv agrees",
  ignore: !exists(SUITE),
  fn() {
    for (const { name } of Deno.readDirSync(SUITE)) {
      for (const { schema, tests } of JSON.parse(Deno.readTextFileSync(new URL(name, SUITE)))) {
        const languages = new Languages();
        const language = languages.format(schema.format);
        if (language === undefined) continue;
        for (const { data, valid, description } of tests) {
          if (typeof data !== "string") continue;
          const about = `${schema.format}: ${description}`;
          const isMember = languages.contains(language, data);
          // No regular language decodes Punycode, or compares the names of groups.
          const isBeyond = valid ? /\(\?<\w/.test(data) : /^xn--/i.test(data);
          if (isBeyond || valid && !ajvTakes(schema.format, data)) continue;
          assert(isMember === valid, about);
        }
      }
    }
  },
});
