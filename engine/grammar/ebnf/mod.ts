// Grammars as text: GBNF, the extended Backus-Naur form of llama.cpp (its grammars/README.md).

export { parseGrammar } from "./parser.ts";
export type { ParsedGrammar } from "./parser.ts";
