// What a kernel demands of a device, read from its WGSL and not from the code that made it.

import { assert } from "@std/assert";

/** Bytes of workgroup memory and invocations of a workgroup that a kernel wants. */
export function demandsOf(code: string): { memory: number; invocations: number } {
  const plain = code.replaceAll(/\/\/.*|\/\*[^]*?\*\//g, "");
  const constants = new Map<string, number>();
  for (const [, name, value] of plain.matchAll(/\bconst (\w+) = ([^;]+);/g)) {
    if (!/[.:]|^vec/.test(value)) constants.set(name, evaluate(value, constants));
  }
  const aliases = new Map(
    [...plain.matchAll(/\balias (\w+) = (\w+);/g)].map(([, name, type]) => [name, type]),
  );
  const named = plain.replaceAll(/\w+/g, (word) => aliases.get(word) ?? word);
  let memory = 0;
  for (const [, type] of named.matchAll(/\bvar<workgroup> \w+: ([^;]+);/g)) {
    memory += Math.ceil(sizeOf(type, constants) / 16) * 16;
  }
  const [, size] = /@workgroup_size\(([^)]+)\)/.exec(plain)!;
  return { memory, invocations: evaluate(size, constants) };
}

function sizeOf(type: string, constants: Map<string, number>): number {
  const [, element, count] = /^array<(.+), ([^,<>]+)>$/.exec(type.trim()) ?? [];
  if (element) return sizeOf(element, constants) * evaluate(count, constants);
  if (type === "f16") return 2;
  const [, vector = "1"] = /^vec([24])<[uif]32>$/.exec(type) ?? [];
  assert(vector !== "1" || /^(?:atomic<)?[uif]32>?$/.test(type), `no size of ${type}`);
  return 4 * Number(vector);
}

/** The value of an expression of whole numbers: sums, products, and names. */
function evaluate(expression: string, constants: Map<string, number>): number {
  const tokens = expression.match(/0x[0-9a-fA-F]+|\w+|[-+*/%()]/g) ?? [];
  const atom = (): number => {
    const token = tokens.shift()!;
    if (token === "(") {
      const value = sum();
      tokens.shift();
      return value;
    }
    const value = constants.get(token) ?? Number(token.replace(/u$/, ""));
    assert(!Number.isNaN(value), `${token} in ${expression}`);
    return value;
  };
  const product = (): number => {
    let value = atom();
    while (tokens[0] === "*" || tokens[0] === "/" || tokens[0] === "%") {
      const operator = tokens.shift();
      const other = atom();
      if (operator === "*") value *= other;
      else value = operator === "/" ? Math.floor(value / other) : value % other;
    }
    return value;
  };
  const sum = (): number => {
    let value = product();
    while (tokens[0] === "+" || tokens[0] === "-") {
      value += tokens.shift() === "+" ? product() : -product();
    }
    return value;
  };
  return sum();
}
