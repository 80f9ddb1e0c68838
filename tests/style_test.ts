// The rules of style that a reader can count: header comment, names, no default exports,
// and no trace of the machine that the code was written on.

import { assertEquals } from "@std/assert";
import { listSourceFiles, readSource } from "./source_files.ts";

/** Each rule with a pattern that no source file may match. Pieces, lest this file match itself. */
const FORBIDDEN: [rule: string, pattern: RegExp][] = [
  ["exports by name, not by default", /^export default\b/m],
  [
    "names no folder of the machine it was written on",
    new RegExp("(?<![\\w.}])/(?:work|root)" + "/\\w"),
  ],
  [
    "has a doc comment that says what it is, not that it is the same",
    /\/\*\*\s+(?:\* )?The same\b/,
  ],
  ["names no package registry", new RegExp("registry\\." + "(?:npmjs|yarnpkg)|" + "jsr\\.io")],
  ["asks maps for nothing that Node 22 lacks", new RegExp("\\.getOr" + "Insert")],
  ["names no server of packages", new RegExp("(?:deb|archive|security)\\." + "(?:debian|ubuntu)")],
];

/** The rules that a file breaks. */
function faultsOf(path: string, text: string): string[] {
  const faults = FORBIDDEN.filter(([, pattern]) => pattern.test(text)).map(([rule]) => rule);
  if (path.endsWith("index.ts")) faults.push("is named for what it holds, or mod.ts");
  if (/[A-Z-]/.test(path)) faults.push("has underscores and small letters in its name");
  if (!/^(?:\/\/ |\/\*\*)/.test(text)) faults.push("begins with a comment that says what it does");
  return faults;
}

Deno.test("every source file keeps the rules of style", () => {
  const faults = listSourceFiles([".ts", ".tsx", ".wgsl"]).flatMap((path) =>
    faultsOf(path, readSource(path)).map((rule) => `${path}: ${rule}`)
  );
  assertEquals(faults, []);
});

const HEADER = "// What this file does.\n\n";

const CASES: [name: string, path: string, text: string, count: number][] = [
  ["accepts a file with a header", "engine/a.ts", HEADER, 0],
  ["refuses a file without a header", "kernels/a.wgsl", "fn main() {}\n", 1],
  ["refuses index.ts", "engine/index.ts", HEADER, 1],
  ["refuses hyphens in a name", "engine/rms-norm.ts", HEADER, 1],
  ["refuses a default export", "engine/a.ts", `${HEADER}export default ${1};\n`, 1],
  ["refuses a path of a machine", "engine/a.ts", `${HEADER}const path = "${"/root"}/x";\n`, 1],
  ["refuses a doc comment of what is alike", "engine/a.ts", `${HEADER}/**\n * ${"The"} same.`, 1],
  ["accepts a URL with such a path", "engine/a.ts", `${HEADER}// see host.test${"/root"}/x\n`, 0],
  ["refuses what Node 22 lacks", "engine/a.ts", `${HEADER}map.${"getOr"}Insert(a, b);\n`, 1],
  ["refuses a registry", "engine/a.ts", `${HEADER}// ${"registry"}.npmjs.org\n`, 1],
];

for (const [name, path, text, count] of CASES) {
  Deno.test(`the style test ${name}`, () => {
    assertEquals(faultsOf(path, text).length, count);
  });
}
