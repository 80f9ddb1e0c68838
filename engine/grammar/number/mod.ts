// Sets of numbers, exact however large, fine or oddly divided, and the automata of their spellings
// in JSON. Knows no schemas.

export {
  checkSpelling,
  type NumberAutomaton,
  numberAutomaton,
  type NumberAutomatonOptions,
} from "./automaton.ts";
export { NumberError } from "./errors.ts";
export {
  allNumbers,
  complement,
  exactly,
  finiteNumbers,
  hasNumber,
  hasOnlyIntegers,
  integers,
  intersect,
  type Interval,
  interval,
  isEmptyNumbers,
  multipleOf,
  type NumberSet,
  sameNumbers,
  union,
} from "./number_set.ts";
