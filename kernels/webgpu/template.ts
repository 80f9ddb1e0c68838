// From a .wgsl file to the WGSL of one variant: adds constants at the beginning, and expands four
// line directives that WGSL lacks. `#if NAME` / `#else` / `#end` keeps lines depending on a
// constant. `#for r in 0..ROWS` / `#end` repeats lines with `$r` replaced, which unrolls inner
// loops (naga adds a guard to each loop). `#insert NAME` stands for a part that has a file of its own.

/** Compile-time values of a kernel: numbers become `const NAME`, booleans are for `#if`. */
export type Constants = Readonly<Record<string, number | boolean>>;

interface Block {
  kind: "if" | "for";
  lines: string[];
  /** For `#if`: whether these lines are kept. */
  keep?: boolean;
  /** For `#if`: whether these lines come after its `#else`. */
  otherwise?: boolean;
  /** For `#for`: name of the variable and its range. */
  variable?: string;
  range?: [number, number];
}

/** Parts of a source by the names that it inserts them by. */
export type Parts = Readonly<Record<string, string>>;

/** Expands the directives and adds `const` declarations at the beginning. Errors: SyntaxError. */
export function expandTemplate(source: string, constants: Constants, parts: Parts = {}): string {
  const root: Block = { kind: "if", lines: [], keep: true };
  const stack: Block[] = [root];
  for (const line of withParts(source, parts).split("\n")) {
    const top = stack[stack.length - 1];
    const directive = /^\s*#(if|for|else|end)\b\s*(.*?)\s*$/.exec(line);
    if (!directive) top.lines.push(line);
    else if (directive[1] === "if") {
      stack.push({ kind: "if", lines: [], keep: truth(directive[2], constants) });
    } else if (directive[1] === "for") stack.push(parseFor(directive[2], constants));
    else if (stack.length === 1) throw new SyntaxError(`Cannot expand WGSL: stray ${line.trim()}`);
    else if (directive[1] === "else") {
      if (top.kind !== "if" || top.otherwise) {
        throw new SyntaxError("Cannot expand WGSL: #else without its own #if");
      }
      const kept = closeBlock(top);
      stack[stack.length - 2].lines.push(...kept);
      stack[stack.length - 1] = { kind: "if", lines: [], keep: !top.keep, otherwise: true };
    } else {
      stack.pop();
      stack[stack.length - 1].lines.push(...closeBlock(top));
    }
  }
  if (stack.length !== 1) throw new SyntaxError("Cannot expand WGSL: a block has no #end");
  const declarations = Object.entries(constants).map(([name, value]) =>
    typeof value === "boolean" ? "" : `const ${name} = ${number(value)};\n`
  );
  return declarations.join("") + root.lines.join("\n");
}

/** A source with its parts in their places. Parts have none in turn. */
function withParts(source: string, parts: Parts): string {
  return source.replace(/^[ ]*#insert[ ]+(\w+)[ ]*$/gm, (_, name) => {
    if (!(name in parts)) throw new SyntaxError(`Cannot expand WGSL: there is no part "${name}"`);
    return parts[name];
  });
}

/** What {@linkcode renamed} makes of the name of a declaration. */
export function renamedName(name: string, number: number): string {
  return `${name}_${number}`;
}

/**
 * Code with other names and binding numbers for all that it declares, so that it can stand
 * beside code with the same declarations. Members of structs keep their names, and must not be called
 * like a declaration.
 */
export function renamed(code: string, number: number): string {
  const declaration = /^(?:@group.*?)?(?:fn|struct|alias|const|var(?:<.*?>)?)\s+(\w+)/gm;
  const declared = new Set(Array.from(code.matchAll(declaration), ([, name]) => name));
  return code
    .replaceAll(
      /(?<![.\w])[a-zA-Z]\w*/g,
      (word) => declared.has(word) ? renamedName(word, number) : word,
    )
    .replaceAll(
      /@binding\((\d+)\)/g,
      (_, binding) => `@binding(${Number(binding) + number * BINDINGS_OF_CODE})`,
    );
}

/** More bindings than any kernel has. */
const BINDINGS_OF_CODE = 32;

function closeBlock(block: Block): string[] {
  if (block.kind === "if") return block.keep ? block.lines : [];
  const [from, to] = block.range!;
  const pattern = new RegExp(`\\$${block.variable}(?![A-Za-z0-9])`, "g");
  const copies: string[] = [];
  for (let i = from; i < to; i++) {
    for (const line of block.lines) copies.push(line.replace(pattern, String(i)));
  }
  return copies;
}

function parseFor(text: string, constants: Constants): Block {
  const match = /^(\w+) in (\w+)\.\.(\w+)$/.exec(text);
  if (!match) throw new SyntaxError(`Cannot expand WGSL: #for ${text}`);
  const bound = (word: string) => /^\d+$/.test(word) ? Number(word) : value(word, constants);
  return {
    kind: "for",
    lines: [],
    variable: match[1],
    range: [Number(bound(match[2])), Number(bound(match[3]))],
  };
}

function truth(text: string, constants: Constants): boolean {
  const negated = text.startsWith("!");
  return Boolean(value(negated ? text.slice(1).trim() : text, constants)) !== negated;
}

function value(name: string, constants: Constants): number | boolean {
  if (!(name in constants)) throw new SyntaxError(`Cannot expand WGSL: ${name} has no value`);
  return constants[name];
}

/** Whole numbers are u32, others f32, because WGSL does not convert one to the other. */
function number(value: number): string {
  if (Number.isInteger(value) && value >= 0) return `${value}u`;
  return `${Math.fround(value)}f`;
}
