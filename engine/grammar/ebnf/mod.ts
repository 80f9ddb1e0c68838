// Grammars as text: GBNF, the extended Backus-Naur form of llama.cpp (its grammars/README.md).

export { type ParsedGrammar, parseGrammar, type TextSpan } from "./parser.ts";
