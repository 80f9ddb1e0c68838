// Formats: strings that are in them and near ones that are not, and members drawn at random for
// judges of another make: Date, URL, RegExp, and plain arithmetic.

import { assert, assertEquals } from "@std/assert";
import { Languages } from "../../../../engine/grammar/language/mod.ts";
import { createDraw } from "./random.ts";

const CASES: [format: string, members: string[], others: string[]][] = [
  [
    "date",
    ["2024-02-29", "2000-02-29", "1999-12-31", "0400-02-29"],
    [
      "2023-02-29",
      "1900-02-29",
      "2024-04-31",
      "2024-13-01",
      "2024-1-01",
      "0000-01-01",
      "2024-00-10",
    ],
  ],
  [
    "time",
    [
      "08:30:06Z",
      "08:30:06.283185z",
      "08:30:06+23:59",
      "23:59:60Z",
      "01:29:60.5+01:30",
      "00:29:60-23:30",
      "08:59:60+09:00",
    ],
    [
      "08:30:06",
      "24:00:00Z",
      "08:60:00Z",
      "22:59:60Z",
      "08:30:06+24:00",
      "08:30Z",
      "08:30:06.Z",
      "23:59:60+01:00",
      "01:29:60-01:30",
    ],
  ],
  [
    "date-time",
    ["1963-06-19T08:30:06.283185Z", "2020-01-01t00:00:00-08:00", "1998-12-31T23:59:60Z"],
    ["1990-02-31T15:59:59Z", "2020-01-01", "2020-01-01 00:00:00Z", "2020-01-01T00:00:00"],
  ],
  [
    "duration",
    ["P4DT12H30M5S", "P1Y2M3D", "PT0S", "P2W", "P1M", "PT36H"],
    ["P", "PT", "P1", "4DT12H", "P2D1Y", "P1Y2W", "P1D2H", "PT1D"],
  ],
  [
    "email",
    ["joe.bloggs@example.com", "te~st@example.com", "a+b@x-y.co", "!@0.aa"],
    [
      "2962",
      ".test@example.com",
      "te..st@example.com",
      "a@-b.com",
      "a@b",
      "a b@c.de",
      "a@b..c",
      "a@b.0",
      "a@b.c",
    ],
  ],
  [
    "hostname",
    ["www.example.com", "xn--4gbwdl.xn--wgbh1c", "1host", "localhost", `${"a".repeat(63)}.b`],
    ["-a", "a-", "a_b", "a..b", "", ".", "a".repeat(64), "ab--cd", `${"ab.".repeat(84)}abc`],
  ],
  [
    "ipv4",
    ["192.168.0.1", "0.0.0.0", "255.255.255.255"],
    ["127.0.0", "256.1.1.1", "1.2.3.4.5", "01.2.3.4", "0x7f.1.1.1", "1.2.3."],
  ],
  [
    "ipv6",
    ["::1", "::", "::abcd:efff", "1:2:3:4:5:6:7:8", "1::8", "::ffff:1.2.3.4", "1:2:3:4:5:6:7::"],
    [
      "12345::",
      "1::2::3",
      "1:2:3:4:5:6:7",
      "1:2:3:4:5:6:7:8:9",
      ":1",
      "1:",
      "::1.2.3",
      "fe80::a%eth1",
    ],
  ],
  [
    "uri",
    [
      "http://foo.bar/?q=Test%20URL#frag",
      "urn:oasis:a",
      "mailto:a@b.de",
      "http://[::1]:80/",
      "a:/",
    ],
    ["//foo.bar", "/abc", "foo", "http:// x", ":// x", "bar,,:.;", "http://x/%zz", "http://x/<a>"],
  ],
  [
    "uri-reference",
    ["http://foo.bar/?q=1", "//foo.bar/a", "/abc", "abc", "#frag", "", "?q", "../a:b"],
    ["\\\\WINDOWS\\share", "abc\\def", "#a\\b", "a b", "%a"],
  ],
  [
    "uuid",
    ["2EB8AA08-aa98-11ea-b4aa-73b441d16380", "00000000-0000-0000-0000-000000000000"],
    ["2eb8aa08-aa98-11ea-b4aa-73b441d1638", "2eb8aa08aa9811eab4aa73b441d16380", "g".repeat(36)],
  ],
  [
    "iri",
    ["http://ƒøø.ßår/?∂éœ=πîx#πîüx", "http://[2001:db8::1]", "urn:é", "http://x/?\u{f0000}"],
    ["/abc", "âππ", "http://2001:db8::7334", "http://x/ y", "http://x/\u{f0000}", "not-an-iri"],
  ],
  ["iri-reference", ["âππ", "//ƒøø.ßår/", "#ƒräg", ""], ["\\\\WINDOWS\\filëßåré", "#ƒ\\g", "a b"]],
  [
    "uri-template",
    ["", "a/{b:1}/{c}{?d*,e}", "{+x}", "%41{%41}", "😀"],
    ["{", "{}", "{a,,b}", "{a:0}", "{a:10000}", "a}", "a b", "{a=b}", "http://x/{"],
  ],
  [
    "idn-hostname",
    ["실례.테스트", "l·l", "אבג.ab", "क्‍ष", "・ァ", "a。b", "example", "ü".repeat(40)],
    ["a·l", "-a", "a..b", ".", "〮실례", "̀a", "aא", "0a.א", "ب٠۰", "क‍ष", "・", "ü".repeat(60)],
  ],
  [
    "idn-email",
    ["실례@실례.테스트", "δοκιμή@example.com", '"δ o"@example.com', "user@cafe\u0301.com"],
    ["2962", "a@", "@b", "user＠example.com", "a b@c.de", "..a@b.c"],
  ],
  ["json-pointer", ["", "/", "/foo/bar~0/~1", "/é"], ["foo", "/~", "/~2", "#/a"]],
  ["relative-json-pointer", ["0", "1/a", "12#"], ["/a", "01", "-1", "1a", ""]],
  [
    "regex",
    [
      "([abc])+\\s+$",
      "^[a-z0-9_-]+$",
      "a{1,20}|(?:b?)*?",
      "(?=a)b",
      "[0-9]{2,5}",
      "[^\\]]",
      "\\p{L}",
      "[\\w.-]+@x",
    ],
    ["^(abc]", "a**", "[z-a]", "\\", "(?a)", "a{2,1}", "[", "(a", "\\Z", "(?<=a)*", "]"],
  ],
  ["date-time-local", ["2024-02-29T08:30:06.25"], ["2024-02-29T08:30:06Z", "2024-02-30T08:30:06"]],
  ["partial-date-time", ["2024-02-29T08:30:06"], ["2024-02-29"]],
  ["time-local", ["08:30:06"], ["08:30:06Z", "24:00:00"]],
  ["host-name", ["a.example"], ["-a"]],
  ["ip-address", ["127.0.0.1"], ["::1"]],
  ["ip", ["127.0.0.1", "::1"], ["127.0.0.256"]],
  ["ipvanyaddress", ["127.0.0.1", "fe80::1"], ["127.0.0.1/8", "a"]],
  [
    "ipv4network",
    ["10.0.0.0/8", "192.168.4.0/22", "1.2.3.4", "1.2.3.4/32", "128.0.0.0/1", "0.0.0.0/0"],
    ["10.0.0.1/8", "192.168.5.0/22", "1.2.3.4/33", "1.2.3.5/31", "1.2.3/24"],
  ],
  [
    "ipv6network",
    ["2001:db8::/32", "::/0", "fe80::/64", "::1", "::1/128"],
    ["2001:db8::/31", "::1/64", "::/129", "a::b/64"],
  ],
  ["ipvanynetwork", ["10.0.0.0/8", "2001:db8::/32"], ["10.0.0.1/8"]],
  ["ipv4interface", ["10.0.0.1/8", "10.0.0.1"], ["10.0.0.1/33"]],
  ["ipv6interface", ["fe80::1/64", "::"], ["fe80::1/129", "10.0.0.1/8"]],
  ["ipvanyinterface", ["fe80::1/64", "10.0.0.1/8"], ["10.0.0.1/40"]],
  ["cidrv4", ["10.0.0.1/8"], ["10.0.0.1", "::/8"]],
  ["cidrv6", ["fe80::1/64"], ["fe80::1"]],
  ["base64", ["", "TQ==", "TWE=", "TWFu+/AA"], ["T", "TQ", "TWFu-_AA"]],
  ["base64url", ["", "TQ==", "TWFu-_AA"], ["TWFu+/AA", "T==="]],
  ["uuid1", ["2eb8aa08-aa98-11ea-b4aa-73b441d16380"], ["2eb8aa08-aa98-41ea-b4aa-73b441d16380"]],
  ["uuid3", ["2eb8aa08-aa98-31ea-84aa-73b441d16380"], ["2eb8aa08-aa98-31ea-c4aa-73b441d16380"]],
  ["uuid4", ["2EB8AA08-AA98-41EA-B4AA-73B441D16380"], ["2eb8aa08-aa98-51ea-b4aa-73b441d16380"]],
  ["uuid5", ["2eb8aa08-aa98-51ea-94aa-73b441d16380"], ["2eb8aa08-aa98-41ea-b4aa-73b441d16380"]],
  ["uuid6", ["2eb8aa08-aa98-61ea-94aa-73b441d16380"], ["2eb8aa08-aa98-71ea-b4aa-73b441d16380"]],
  ["uuid7", ["2eb8aa08-aa98-71ea-94aa-73b441d16380"], ["2eb8aa08-aa98-81ea-b4aa-73b441d16380"]],
  ["uuid8", ["2eb8aa08-aa98-81ea-94aa-73b441d16380"], ["2eb8aa08aa9881ea94aa73b441d16380"]],
  ["guid", ["2eb8aa08-aa98-01ea-04aa-73b441d16380"], ["2eb8aa08"]],
  ["cuid", ["ckopqwooh000001la8mbi2im9"], ["opqwooh000001la8mbi2im9"]],
  ["cuid2", ["tz4a98xxat96iws9zmbrgj3a"], ["4z4a98xxat96iws9zmbrgj3a"]],
  ["nanoid", ["V1StGXR8_Z5jdHi6B-myT"], ["V1StGXR8"]],
  ["ulid", ["01ARZ3NDEKTSV4RRFFQ69G5FAV"], [
    "81ARZ3NDEKTSV4RRFFQ69G5FAV",
    "01ARZ3NDEKTSV4RRFFQ69G5FAU",
  ]],
  ["color", ["red", "#fff", "#00FF7f", "rgb(0, 128, 255)"], ["#ff", "rgb(0, 128, 256)", "reddish"]],
  ["decimal", ["0", "-12.50"], ["01", "1e5", "."]],
  ["fraction", ["1/2", "-3", "0/7"], ["1/0", "1/", "1.5/2"]],
  [
    "json-string",
    ['{"a": [1, -2.5e3], "b":{"c":null}}', '"\\n"', "true", "[]"],
    ["{a: 1}", "[1,]", "'a'", "01", '"\n"', ""],
  ],
  ["multi-host-uri", ["postgresql://u:p@one.example:5432,two/db", "redis://a"], [
    "a",
    "a://",
    "a:b",
  ]],
  [
    "name-email",
    ["Ada Lovelace <ada@example.com>", "ada@example.com"],
    ["Ada", "Ada Lovelace", "<ada@example.com>", "Ada ada@example.com"],
  ],
  ["phone", ["+14155552671"], ["4155552671", "+0123456789", "+1"]],
  ["e164", ["+4930123456"], ["+49 30 123456"]],
  ["emoji", ["😀"], ["a"]],
  ["zoneinfo", ["Europe/Berlin", "UTC"], ["Europe/Atlantis", ""]],
  ["char", ["a", "😀"], ["", "ab"]],
  ["password", ["", "any\nthing"], []],
  ["binary", ["\u0000", "é"], []],
  ["path", ["", "/a/b"], []],
  ["file-path", ["a"], []],
  ["directory-path", ["a"], []],
];

Deno.test("format() takes what each format's specification does, and not its neighbours", () => {
  for (const [format, members, others] of CASES) {
    const languages = new Languages();
    const language = languages.format(format)!;
    for (const text of members) assert(languages.contains(language, text), `${format}: ${text}`);
    for (const text of others) {
      assert(!languages.contains(language, text), `${format}: not ${text}`);
    }
  }
  assertEquals(new Languages().format("no-such-format"), undefined);
});

/** Whether a date is one that the platform's calendar gives back. */
function isDate(text: string): boolean {
  const date = new Date(`${text.slice(0, 10)}T00:00:00Z`);
  return !isNaN(date.getTime()) && date.toISOString().slice(0, 10) === text.slice(0, 10);
}

function isUri(text: string): boolean {
  return /^[A-Za-z][A-Za-z0-9+.-]*:[!#$&-;=?-\[\]_a-z~%]+$/.test(text) &&
    !/%(?![\dA-Fa-f]{2})/.test(text);
}

function isRegex(text: string): boolean {
  try {
    return new RegExp(text, "u") !== undefined;
  } catch {
    return false;
  }
}

function isHostname(text: string): boolean {
  return text.length <= 253 &&
    text.split(".").every((label) => label.length < 64 && /^(?!-)[A-Za-z\d-]+(?<!-)$/.test(label));
}

const JUDGES: [format: string, judge: (text: string) => boolean][] = [
  ["date", isDate],
  [
    "date-time",
    (text) => isDate(text) && !isNaN(Date.parse(text.toUpperCase().replace(":60", ":59"))),
  ],
  ["time", (text) => !isNaN(Date.parse(`2000-01-01T${text.toUpperCase().replace(":60", ":59")}`))],
  ["duration", (text) => /^P(?=.)(\d+[YMDW])*(T(?=.)(\d+[HMS])+)?$/.test(text)],
  [
    "email",
    (text) => isHostname(text.slice(text.lastIndexOf("@") + 1)) && !/^\.|\.\.|\.@/.test(text),
  ],
  ["hostname", isHostname],
  [
    "ipv4",
    (text) => text.split(".").map(Number).join(".") === text && URL.canParse(`http://${text}/`),
  ],
  ["ipv6", (text) => URL.canParse(`http://[${text}]/`)],
  ["uri", isUri],
  ["uri-reference", (text) => isUri(`a:/${text}`)],
  ["uuid", (text) => text.length === 36 && /^[\dA-Fa-f]{32}$/.test(text.replaceAll("-", ""))],
  ["json-pointer", (text) => (text === "" || text[0] === "/") && !/~(?![01])/.test(text)],
  ["regex", isRegex],
];

/** A member: random bytes that the automaton lets pass, signs as often as letters; then its completion. */
function drawMember(
  languages: Languages,
  language: number,
  draw: (bound: number) => number,
): string {
  const automaton = languages.automaton(language);
  const bytes: number[] = [];
  let state = automaton.start;
  const ascii = Array.from({ length: 95 }, (_, i) => 32 + i);
  for (let n = draw(30); n > 0; n--) {
    const steps = ascii.filter((byte) => automaton.step(state, byte) !== 0);
    const signs = steps.filter((byte) => /\W/.test(String.fromCharCode(byte)));
    const choice = signs.length > 0 && draw(2) === 0 ? signs : steps;
    if (choice.length === 0) break;
    bytes.push(choice[draw(choice.length)]!);
    state = automaton.step(state, bytes.at(-1)!);
  }
  bytes.push(...automaton.completion(state));
  return JSON.parse(`"${new TextDecoder().decode(Uint8Array.from(bytes))}"`);
}

Deno.test("members of formats drawn at random satisfy judges of another make", () => {
  const draw = createDraw(6);
  for (const [format, judge] of JUDGES) {
    const languages = new Languages();
    const language = languages.format(format)!;
    const drawn = new Set<string>();
    for (let i = 0; i < 300; i++) {
      const text = drawMember(languages, language, draw);
      assert(judge(text), `${format}: ${text}`);
      assert(languages.contains(language, text), `${format}: ${text}`);
      drawn.add(text);
    }
    assert(drawn.size > 100, `${format}: ${drawn.size} members`);
  }
});

Deno.test("format date holds the days of the calendar from 1896 to 2104", () => {
  const languages = new Languages();
  const language = languages.format("date")!;
  for (let year = 1896; year <= 2104; year++) {
    for (let month = 1; month <= 12; month++) {
      const days = new Date(Date.UTC(year, month, 0)).getUTCDate();
      for (const day of [28, 29, 30, 31]) {
        const text = `${year}-${`${month}`.padStart(2, "0")}-${day}`;
        assertEquals(languages.contains(language, text), day <= days, text);
      }
    }
  }
});
