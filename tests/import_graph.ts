// Reads the imports of TypeScript files: static, dynamic, of types and of text. A regular expression
// is enough, because `deno fmt` fixes how they are written; imports within comments do not count.

/** One import of one file. */
export interface Import {
  /** The importing file, below the project's root. */
  from: string;
  /** The imported file below the project's root, or the specifier of a package. */
  to: string;
  /** True for `import("…")`. */
  isDynamic: boolean;
}

const STATIC_IMPORT = /^(?:import|export)\b(?:[^;"'`]*?\bfrom)?\s*["']([^"']+)["']/gm;
const DYNAMIC_IMPORT = /^(?!\s*(?:\*|\/\/|\/\*)).*?\bimport\(\s*["']([^"'$]+)["']/gm;

/** The imports of a file, given its path below the project's root and its text. */
export function readImports(from: string, text: string): Import[] {
  const read = (pattern: RegExp, isDynamic: boolean) =>
    [...text.matchAll(pattern)].map(([, specifier = ""]) => ({
      from,
      to: resolve(from, specifier),
      isDynamic,
    }));
  return [...read(STATIC_IMPORT, false), ...read(DYNAMIC_IMPORT, true)];
}

function resolve(from: string, specifier: string): string {
  if (!specifier.startsWith(".")) return specifier;
  return new URL(specifier, `file:///${from}`).pathname.slice(1);
}

/** The first cycle found, as the files along it with the first one repeated; undefined for none. */
export function findCycle(imports: Import[]): string[] | undefined {
  const targets = Map.groupBy(imports, ({ from }) => from);
  const done = new Set<string>();
  const visit = (path: string[]): string[] | undefined => {
    const file = path.at(-1)!;
    const start = path.indexOf(file);
    if (start < path.length - 1) return path.slice(start);
    if (done.has(file)) return undefined;
    for (const { to } of targets.get(file) ?? []) {
      const cycle = visit([...path, to]);
      if (cycle) return cycle;
    }
    done.add(file);
    return undefined;
  };
  for (const file of targets.keys()) {
    const cycle = visit([file]);
    if (cycle) return cycle;
  }
  return undefined;
}

/**
 * The first cycle between the things that lie side by side in a folder, at any depth below a layer:
 * there a folder counts as one thing with all that is in it. The names along the cycle with the first
 * one repeated, after the folder that they lie in; undefined for none.
 */
export function findFolderCycle(imports: readonly Import[], layer: string): string[] | undefined {
  const inside = imports.filter(({ from, to }) => isBelow(layer, from) && isBelow(layer, to));
  const folders = new Set(inside.flatMap(({ from, to }) => [...foldersOf(from), ...foldersOf(to)]));
  for (const folder of [...folders].filter((each) => isBelow(layer, `${each}/`)).sort()) {
    const links = inside
      .filter(({ from, to }) => isBelow(folder, from) && isBelow(folder, to))
      .map(({ from, to }) => ({
        from: childOf(folder, from),
        to: childOf(folder, to),
        isDynamic: false,
      }))
      .filter(({ from, to }) => from !== to);
    const cycle = findCycle(links);
    if (cycle) return [folder, ...cycle];
  }
  return undefined;
}

function isBelow(folder: string, path: string): boolean {
  return path.startsWith(`${folder}/`);
}

/** Every folder that a file lies in, the outermost first. */
function foldersOf(path: string): string[] {
  const parts = path.split("/").slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join("/"));
}

/** The file or the folder right in a folder that leads to a path. */
function childOf(folder: string, path: string): string {
  return path.slice(folder.length + 1).split("/")[0]!;
}
