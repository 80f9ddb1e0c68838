// An assembler for WebAssembly: kernels are written in TypeScript, with WebAssembly's instructions
// as functions, and become modules at run time, for one format and one machine.

export { IMPORTS, type ValueType } from "./encoding.ts";
export { type Expression, type F32, type I32, type Statement, type V128 } from "./expression.ts";
export { type FunctionBuilder, type Local } from "./function.ts";
export {
  f32,
  f32x4,
  f64,
  i16x8,
  i32,
  i32x4,
  i64,
  i8x16,
  shuffleLanes,
  v128,
} from "./instructions.ts";
export { type Memory } from "./memory.ts";
export { ModuleBuilder } from "./module.ts";
