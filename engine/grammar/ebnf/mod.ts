// Grammars as text: GBNF, the extended Backus-Naur form of llama.cpp (its grammars/README.md).

export { type ParsedGrammar, parseGrammar } from "./parser.ts";
