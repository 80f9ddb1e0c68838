// Patterns of hosts and origins: what each matches, and that no `*` reaches beyond its part.

import { assertEquals } from "@std/assert";
import { hostPattern, originPattern } from "../../../server/network/host.ts";

Deno.test("a pattern of origins matches schemes, names and ports part by part", () => {
  const cases: [pattern: string, matching: string[], others: string[]][] = [
    [
      "http://localhost:*",
      ["http://localhost:1", "http://LOCALHOST:65535", "http://localhost"],
      ["https://localhost:1", "http://localhost:80.evil.com", "http://localhost:x", "null"],
    ],
    ["http://localhost", ["http://localhost"], ["http://localhost:80", "http://localhost."]],
    [
      "https://*.example.org",
      ["https://a.example.org", "https://a.b.example.org"],
      [
        "https://example.org",
        "https://a.example.org:8443",
        "https://evil.com/a.example.org",
        "https://evil.com:1.example.org",
        "https://user@a.example.org",
        "https://a.example.org.",
        "https://axexample.org",
      ],
    ],
    ["http://192.168.1.*", ["http://192.168.1.7", "http://192.168.1.7:3000"], [
      "http://192.168.2.7",
    ]],
    ["*://nas.lan:5000", ["http://nas.lan:5000", "app://nas.lan:5000"], ["http://nas.lan:50001"]],
    ["http://[::1]:*", ["http://[::1]:80"], ["http://[::1]:80.evil.com", "http://[::1].evil.com"]],
    ["file://*", ["file://"], ["file:///etc/passwd", "null"]],
    ["app://*", ["app://obsidian.md", "app://x:1"], ["app://x/y", "application://x"]],
    ["*", ["https://anywhere.com:1", "null"], []],
    ["example.org", [], ["http://example.org", "example.org"]],
  ];
  for (const [pattern, matching, others] of cases) {
    const matches = originPattern(pattern);
    assertEquals([pattern, matching.filter((origin) => !matches(origin))], [pattern, []]);
    assertEquals([pattern, others.filter(matches)], [pattern, []]);
  }
});

Deno.test("a pattern of hosts matches names and addresses, and nothing that has more in it", () => {
  const matches = hostPattern("*.lan");
  for (const name of ["nas.lan", "A.B.LAN", "my_box.lan"]) {
    assertEquals([name, matches(name)], [name, true]);
  }
  for (
    const name of ["lan", "evil.com/a.lan", "evil.com:1.lan", "evil.com#.lan", "a b.lan", "é.lan"]
  ) {
    assertEquals([name, matches(name)], [name, false]);
  }
  assertEquals(hostPattern("*")("::1"), true);
  assertEquals(hostPattern("*")("::1/x"), false);
});
