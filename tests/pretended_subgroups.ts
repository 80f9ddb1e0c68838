// Kernels for GPUs whose subgroups have another size than those of the driver that computes them:
// `subgroupAdd` and `subgroupShuffleXor` give the same values by way of workgroup memory. All else of
// a kernel stays as it is.

/**
 * The code of a kernel without subgroups, but with `subgroupAdd` over so many neighbouring invocations,
 * and shuffles.
 */
export function withSubgroupsOf(size: number, code: string): string {
  const bare = code.replace("enable subgroups;\n", ""); // Deno has no such directive
  if (!/\bsubgroup\w+\(/.test(bare)) return bare;
  if (/\bsubgroup(?!Add\(|ShuffleXor\()\w+\(/.test(bare)) {
    throw new RangeError("Cannot pretend subgroups: only sums and shuffles are replaced");
  }
  const main = /\bfn main\([^{]*\) \{\n/;
  if (!main.test(bare) || !/@builtin\(local_invocation_index\) thread: u32/.test(bare)) {
    throw new RangeError("Cannot pretend subgroups: main() does not know its thread");
  }
  const plain = withSumsAtOnce(size, bare.replace(main, "$&  pretended_thread = thread;\n")) +
    "var<private> pretended_thread: u32;\n";
  if (!/\bsubgroup\w+\(/.test(plain)) return plain;
  // A barrier a call: the next call writes into the other array, and the one after that writes only
  // when all have read.
  return plain + `
var<private> pretended_turn: u32;
var<workgroup> pretended_values: array<array<f32, WORKGROUP>, 2>;
fn pretended_share(value: f32) -> u32 {
  pretended_turn = 1u - pretended_turn;
  let turn = pretended_turn;
  pretended_values[turn][pretended_thread] = value;
  workgroupBarrier();
  return turn;
}
fn subgroupShuffleXor(value: f32, mask: u32) -> f32 {
  let turn = pretended_share(value);
  return pretended_values[turn][pretended_thread ^ mask];
}
fn subgroupAdd(value: f32) -> f32 {
  let turn = pretended_share(value);
  // All add up in the same order, as all of a subgroup have the same sum.
  let first = pretended_thread - pretended_thread % ${size || 1}u;
  var sum = 0.0;
  for (var i = first; i < first + ${size || 1}u; i++) {
    sum += pretended_values[turn][i];
  }
  return sum;
}
`;
}

/** Bytes of workgroup memory for sums that are made at once: what the greatest kernels leave free. */
const BYTES_AT_ONCE = 8192;

/** Statements one after the other that each add a variable up, or take a step of a butterfly. */
const SUM_STATEMENTS =
  /(?: *(\w+) (?:= subgroupAdd\(\1\)|\+= subgroupShuffleXor\(\1, 1u << u32\(\d+\)\));\n)+/g;

/**
 * The code with sums that follow one another made together, with few barriers. Drivers that run on the
 * CPU cut a kernel into pieces at its barriers, and compile one of 64 barriers for many seconds.
 */
function withSumsAtOnce(size: number, code: string): string {
  const workgroup = Number(/\bconst WORKGROUP = (\d+)u;/.exec(code)?.[1]);
  const most = Math.floor(BYTES_AT_ONCE / 4 / workgroup);
  let places = 0;
  const functions = new Map<number, string>();
  const changed = code.replaceAll(SUM_STATEMENTS, (statements) => {
    const steps = new Map<string, string[]>();
    for (const [, variable, step] of statements.matchAll(/(\w+) (\+?= .+);/g)) {
      steps.set(variable, [...steps.get(variable) ?? [], step.replace(`(${variable}`, "(")]);
    }
    const variables = [...steps.keys()];
    const [first, ...others] = [...steps.values()].map((those) => those.join("; "));
    const count = steps.get(variables[0])!.length;
    const butterfly = Array.from(
      { length: count },
      (_, k) => `+= subgroupShuffleXor(, 1u << u32(${k}))`,
    );
    const added = first === "= subgroupAdd()"
      ? size
      : first === butterfly.join("; ")
      ? 2 ** count
      : 0;
    if (!added || !(most > 0) || others.some((other) => other !== first)) return statements;
    functions.set(added, sumsOf(added));
    const lines: string[] = [];
    for (let from = 0; from < variables.length; from += most) {
      const part = variables.slice(from, from + most);
      places = Math.max(places, part.length);
      lines.push(
        ...part.map((name, i) => `pretended_sums[${i}][pretended_thread] = ${name};`),
        `pretended_sums_of_${added}(${part.length}u);`,
        ...part.map((name, i) =>
          `${name} = pretended_sums[${i}][pretended_thread - pretended_thread % ${added}u];`
        ),
        "workgroupBarrier();",
      );
    }
    return lines.map((line) => `  ${line}\n`).join("");
  });
  if (!places) return changed;
  const memory = `var<workgroup> pretended_sums: array<array<f32, WORKGROUP>, ${places}>;\n`;
  return [changed, memory, ...functions.values()].join("");
}

/** A function that adds up `count` variables over neighbours, which find their sum at the first's place. */
function sumsOf(neighbours: number): string {
  return `
fn pretended_sums_of_${neighbours}(count: u32) {
  const TEAMS = WORKGROUP / ${neighbours}u;
  workgroupBarrier();
  for (var i = pretended_thread; i < count * TEAMS; i += WORKGROUP) {
    let first = i % TEAMS * ${neighbours}u;
    var sum = 0.0;
    for (var j = first; j < first + ${neighbours}u; j++) {
      sum += pretended_sums[i / TEAMS][j];
    }
    pretended_sums[i / TEAMS][first] = sum;
  }
  workgroupBarrier();
}
`;
}
