// The budget of a rendering. Model files and requests may contain any template, so everything that
// a template does is counted before it is done: items that are visited, and texts and lists that
// are read, copied or made. A rendering runs without pauses, so only one budget is in force at a
// time. It is a variable of this module, so that operations need not be given it.

/** The error of a template that needs more work or memory than a rendering may take. */
export class RenderLimitError extends Error {
  /** Name of the class. */
  override name = "RenderLimitError";

  /** @param limit which of the two is exceeded */
  constructor(readonly limit: "steps" | "memory") {
    super(
      limit === "steps"
        ? "the template takes too many steps"
        : "a text or list of the template grows beyond all bounds",
    );
  }
}

/**
 * Most steps of a rendering. A step is an expression evaluated or an item visited; all take about
 * half a second. Today's templates take some ten thousand, and a million for thousands of messages.
 */
export const MAXIMUM_STEPS = 4_000_000;

/**
 * Most bytes that a rendering makes, including those that it drops. Far below the heap of a worker.
 */
export const MAXIMUM_BYTES = 256 * 1024 * 1024;

/** UTF-16 units of text whose reading or copying as a whole takes as long as one step. */
const UNITS_PER_STEP = 64;
/** Units that a search compares in the time in which one unit is read. */
const COMPARED_PER_UNIT = 4;
/** Items of a list whose copying takes as long as one step. */
const ITEMS_PER_STEP = 64;
/** Most bytes of a unit of text, an item of a list, and an object. */
const BYTES_PER_UNIT = 2;
const BYTES_PER_ITEM = 8;
const BYTES_PER_OBJECT = 64;
/** Additional steps for each UTF-16 unit of the conversation, since a long one takes more work. */
const STEPS_PER_INPUT_UNIT = 1;
const BYTES_PER_INPUT_UNIT = 32;

/** Steps between two polls: some milliseconds of work. */
const STEPS_PER_POLL = 20_000;

let current: RenderBudget | undefined;

/** A budget for one rendering, or for all renderings of one request. */
export class RenderBudget {
  #steps: number;
  #bytes: number;
  #nextPoll: number;
  readonly #poll: () => void;
  /** Whether it has ended a rendering. Then no other way to render the same is tried. */
  isSpent = false;

  /**
   * @param inputLength UTF-16 units of the conversation
   * @param poll called now and then; an error from it ends the rendering
   */
  constructor(inputLength = 0, poll = () => {}) {
    this.#poll = poll;
    this.#steps = MAXIMUM_STEPS + STEPS_PER_INPUT_UNIT * inputLength;
    this.#bytes = MAXIMUM_BYTES + BYTES_PER_INPUT_UNIT * inputLength;
    this.#nextPoll = this.#steps - STEPS_PER_POLL;
  }

  /**
   * Runs a function with this budget in force. Errors: RenderLimitError if the budget is exceeded.
   */
  run<T>(render: () => T): T {
    const outer = current;
    current = this;
    try {
      return render();
    } finally {
      current = outer;
    }
  }

  /** Subtracts from what is left. Errors: RenderLimitError. */
  take(steps: number, bytes: number): void {
    this.#steps -= steps;
    this.#bytes -= bytes;
    if (this.#steps > this.#nextPoll && this.#bytes >= 0) return;
    this.#nextPoll = this.#steps - STEPS_PER_POLL;
    this.isSpent = true;
    if (this.#bytes < 0) throw new RenderLimitError("memory");
    if (this.#steps < 0) throw new RenderLimitError("steps");
    this.#poll();
    this.isSpent = false;
  }
}

/** Counts items that are visited one by one. Counting always precedes the work. */
export function countSteps(steps = 1): void {
  current?.take(steps, 0);
}

/** Counts a text that is read as a whole, such as one that is searched. */
export function countRead(units: number): void {
  current?.take(1 + units / UNITS_PER_STEP, 0);
}

/** Counts a search for a text in another, in which units may be compared several times. */
export function countSearch(units: number, wanted: number): void {
  const compared = Math.min(units, wanted) / COMPARED_PER_UNIT;
  current?.take(1 + (units / UNITS_PER_STEP) * Math.max(1, compared), 0);
}

/** Counts a text that is made. */
export function countText(units: number): void {
  current?.take(1 + units / UNITS_PER_STEP, BYTES_PER_OBJECT + BYTES_PER_UNIT * units);
}

/** Counts a list or a dictionary that is made of existing items. */
export function countItems(items: number): void {
  current?.take(1 + items / ITEMS_PER_STEP, BYTES_PER_OBJECT + BYTES_PER_ITEM * items);
}

/** Counts objects that are made one by one, such as the characters of a text or a loop's scopes. */
export function countObjects(objects: number): void {
  current?.take(objects, BYTES_PER_OBJECT * objects);
}
