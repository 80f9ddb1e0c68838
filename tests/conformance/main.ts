// `deno task conformance [NAME...]`: a table of all models of the conformance data, or of those whose
// names contain one of the arguments.

import { embeddingNames, leastCosine } from "./embeddings.ts";
import { type Errors, fixtureNames, hasData, logitErrors, readFixture, worst } from "./logits.ts";

/** Largest NMSE that passes. */
const LIMIT = 1e-6;
/** Least cosine of an embedding that passes. */
const LEAST_COSINE = 0.9999;

const print = (text: string) => Deno.stdout.writeSync(new TextEncoder().encode(text + "\n"));

if (!hasData) {
  print("No conformance data beside the project: nothing to compare with.");
  Deno.exit(0);
}
print(
  "model                  whole     chunks    single    mixed     max NMSE  result",
);
let failed = 0;
for (const [folder, name] of await fixtureNames()) {
  if (Deno.args.length > 0 && !Deno.args.some((part) => name.includes(part))) continue;
  const line = await row(folder, name);
  if (!line.passed) failed++;
  print(line.text);
}
for (const name of await embeddingNames()) {
  if (Deno.args.length > 0 && !Deno.args.some((part) => name.includes(part))) continue;
  const cosine = await leastCosine(name);
  const passed = cosine >= LEAST_COSINE;
  if (!passed) failed++;
  print(`${name.padEnd(23)}least cosine ${cosine.toFixed(9)}  ${passed ? "pass" : "FAIL"}`);
}
print(failed === 0 ? "all pass" : `${failed} fail`);
Deno.exit(failed === 0 ? 0 : 1);

async function row(folder: string, name: string): Promise<{ text: string; passed: boolean }> {
  try {
    const errors: Errors = await logitErrors(await readFixture(folder, name));
    const passed = worst(errors) <= LIMIT;
    const values = [...Object.values(errors), worst(errors)];
    const numbers = values.map((value) => value.toExponential(1).padEnd(10)).join("");
    return { text: name.padEnd(23) + numbers + (passed ? "pass" : "FAIL"), passed };
  } catch (error) {
    return {
      text: `${name.padEnd(23)}${error instanceof Error ? error.message : error}`,
      passed: false,
    };
  }
}
