// Sets of numbers, exact whatever their size, precision and divisors, and the automata of their
// spellings in JSON.

export {
  checkSpelling,
  type NumberAutomaton,
  numberAutomaton,
  type NumberAutomatonOptions,
} from "./automaton.ts";
export { NumberError } from "./multiples.ts";
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
