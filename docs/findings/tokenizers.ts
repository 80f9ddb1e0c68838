// Tokenizers side by side: into how many pieces do they cut the same text? A vocabulary knows the words of
// what it was made of; beside it, bytes and characters. Further GGUF files join in: main.ts with --beside.

import { loadTokenizer } from "../../mod.ts";
import { Figure } from "./figure.ts";
import { expect, type Find } from "./finding.ts";

const TEXTS: Record<string, string> = {
  English: "What is the weather in Rome today? Please tell me.",
  French: "Quel temps fait-il à Rome aujourd'hui ? Dis-le-moi.",
  Finnish: "Millainen sää Roomassa on tänään? Kerro minulle.",
  JSON: '{"name": "Nora Weber", "age": 34, "city": "Rome"}',
  numbers: "271828 + 314159 = 585987, 0.5 * 1024 = 512",
  emoji: "👍🏽 👨‍👩‍👧 🇫🇮 ☕",
};

/** The pieces of each text, by bytes, by characters, and by the tokenizers of files. */
export async function compare(paths: readonly (string | URL)[]) {
  const counters = [
    { name: "bytes (UTF-8)", count: (text: string) => new TextEncoder().encode(text).length },
    { name: "characters", count: (text: string) => [...text].length },
  ];
  for (const path of paths) {
    const tokenizer = await loadTokenizer(path);
    const name = `${path}`.replace(/^.*\//, "").replace(/\.gguf$/, "");
    for (const text of Object.values(TEXTS)) {
      expect(tokenizer.decode(tokenizer.encode(text)) === text, `${name} gives texts back`);
    }
    counters.push({ name, count: (text) => tokenizer.encode(text).length });
  }
  return counters.map(({ name, count }) => ({
    name,
    pieces: Object.values(TEXTS).map(count),
  }));
}

/** The tokenizer of a model beside bytes and characters. */
export const find: Find = (model, path) => findBeside(model, [path]);

/** The tokenizers of several files beside them, that of the model first. */
export async function findBeside(
  model: Parameters<Find>[0],
  paths: readonly (string | URL)[],
): ReturnType<Find> {
  const rows = await compare(paths);
  const [bytes, , own] = rows;
  const perByte = own!.pieces.map((count, i) => count / bytes!.pieces[i]!);
  expect(perByte.every((share) => share <= 1), "no text has more tokens than bytes");
  const [english, , finnish] = perByte as [number, number, number];
  expect(english < 0.6 * finnish, "English, which it was made of, takes far fewer than Finnish");
  const digits = model.tokenizer.encode("585987");
  const says =
    `Of 100 bytes, ${own!.name} makes ${(100 * english).toFixed(0)} tokens in English, ` +
    `${(100 * finnish).toFixed(0)} in Finnish; "585987" is ${digits.length} tokens.`;
  const cells = rows.map(({ pieces }) => pieces.map(String));
  const shades = rows.map(({ pieces }) => pieces.map((count, i) => count / bytes!.pieces[i]!));
  const columns = Object.keys(TEXTS);
  const picture = new Figure("Tokenizers side by side", says)
    .heatMap(shades, { rows: rows.map(({ name }) => name), columns, cells })
    .text("Pieces of each text; the darker, the more of them for a byte.");
  return { says, picture: `${picture}` };
}
