// The options of a request that people may set: what each does, and what holds without it.

/** An option of `options` in a request. */
export interface OptionField {
  name: string;
  label: string;
  hint: string;
  /** What holds where neither the request nor the model says anything. */
  standard: string;
  min?: number;
  max?: number;
  step?: number;
  isList?: boolean;
}

export const OPTION_FIELDS: readonly OptionField[] = [
  {
    name: "temperature",
    label: "Temperature",
    hint: "0 always takes the likeliest token; higher values vary more.",
    standard: "0.8",
    min: 0,
    max: 5,
    step: 0.1,
  },
  {
    name: "top_k",
    label: "Top k",
    hint: "Only the k likeliest tokens may come; 0 lets all come.",
    standard: "40",
    min: 0,
    step: 1,
  },
  {
    name: "top_p",
    label: "Top p",
    hint: "Only the likeliest tokens that together reach this probability may come.",
    standard: "0.9",
    min: 0,
    max: 1,
    step: 0.05,
  },
  {
    name: "min_p",
    label: "Min p",
    hint: "Drops tokens less likely than this share of the likeliest one.",
    standard: "0",
    min: 0,
    max: 1,
    step: 0.01,
  },
  {
    name: "seed",
    label: "Seed",
    hint: "The same seed gives the same answer again.",
    standard: "random",
    step: 1,
  },
  {
    name: "num_predict",
    label: "Longest answer",
    hint: "Most tokens of an answer; -1 sets no limit.",
    standard: "no limit",
    min: -1,
    step: 1,
  },
  {
    name: "num_ctx",
    label: "Context window",
    hint:
      "Tokens that the conversation and the answer have together. A larger one takes more memory.",
    standard: "as much as fits",
    min: 1,
    step: 1,
  },
  {
    name: "repeat_penalty",
    label: "Repeat penalty",
    hint: "Above 1, makes tokens that came lately less likely.",
    standard: "1",
    min: 0,
    step: 0.05,
  },
  {
    name: "repeat_last_n",
    label: "Repeat window",
    hint: "How many of the last tokens the penalties see; -1 is the whole window.",
    standard: "64",
    min: -1,
    step: 1,
  },
  {
    name: "presence_penalty",
    label: "Presence penalty",
    hint: "Taken once from each token that came lately.",
    standard: "0",
    step: 0.1,
  },
  {
    name: "frequency_penalty",
    label: "Frequency penalty",
    hint: "Taken from a token for each time that it came lately.",
    standard: "0",
    step: 0.1,
  },
  {
    name: "stop",
    label: "Stop texts",
    hint: "End the answer where one of these would come; one a line.",
    standard: "none",
    isList: true,
  },
  {
    name: "draft_num_predict",
    label: "Drafts",
    hint:
      "Most tokens that are guessed from the text before and checked at once; never changes what is said.",
    standard: "automatic",
    min: 0,
    step: 1,
  },
  {
    name: "num_gpu",
    label: "Layers on the GPU",
    hint: "The rest of the model runs on the CPU; -1 puts as many there as fit.",
    standard: "as many as fit",
    min: -1,
    step: 1,
  },
];
