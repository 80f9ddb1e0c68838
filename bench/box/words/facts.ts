// What the model knows of Quern: for each fact what can be asked, the answer, and the key that an
// answer must contain to be right. `how` completes "How do I …?", `what` "What is …?", `where`
// "Where …?", `which` "Which …?"; the frames around them are in skills/about.ts.

/** One thing to know. */
export interface Fact {
  how?: readonly string[];
  what?: readonly string[];
  where?: readonly string[];
  which?: readonly string[];
  answer: string;
  key: RegExp;
}
