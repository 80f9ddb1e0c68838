// What a rendering of a template may take. Any model file and any request may hold any template, so
// everything that a template language does is counted before it is done: what is visited one by one,
// and what is read, copied or made as a whole. A rendering never pauses, so that one budget is in force
// at a time: it is a variable of this module, and operations count without being handed it.

/** A template wants more work or memory than a rendering may take. */
export class RenderLimitError extends Error {
  /** Name of the class. */
  override name = "RenderLimitError";

  /** Says which of the two it is. */
  constructor(readonly limit: "steps" | "memory") {
    super(
      limit === "steps"
        ? "the template takes too many steps"
        : "a text or list of the template grows beyond all bounds",
    );
  }
}

/**
 * Steps of a rendering: an expression evaluated, an item visited. Half a second or so; a template of
 * today takes some ten thousand, and with thousands of messages a million.
 */
const MAXIMUM_STEPS = 4_000_000;

/** Bytes that a rendering makes, whether it keeps them or not. Far below what a worker's heap has. */
const MAXIMUM_BYTES = 256 * 1024 * 1024;

/** Text that takes as long as one step where it is read or copied as a whole, in UTF-16 units. */
const UNITS_PER_STEP = 64;
/** Units that a search compares in the time in which one unit is read otherwise. */
const COMPARED_PER_UNIT = 4;
/** Items of a list that take as long as one step where they are copied as they are. */
const ITEMS_PER_STEP = 64;
/** What one unit of text, one item of a list, and one object take, at most. */
const BYTES_PER_UNIT = 2;
const BYTES_PER_ITEM = 8;
const BYTES_PER_OBJECT = 64;
/** What each unit of the conversation adds to a budget, since a long one takes more work. */
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
  /** Whether it ended a rendering. Then no other way to render the same is tried. */
  isSpent = false;

  /**
   * @param inputLength UTF-16 units of the conversation that is rendered
   * @param poll called now and then: what it throws ends the rendering
   */
  constructor(inputLength = 0, poll = () => {}) {
    this.#poll = poll;
    this.#steps = MAXIMUM_STEPS + STEPS_PER_INPUT_UNIT * inputLength;
    this.#bytes = MAXIMUM_BYTES + BYTES_PER_INPUT_UNIT * inputLength;
    this.#nextPoll = this.#steps - STEPS_PER_POLL;
  }

  /** Runs with this budget in force. Error: RenderLimitError where it does not suffice. */
  run<T>(render: () => T): T {
    const outer = current;
    current = this;
    try {
      return render();
    } finally {
      current = outer;
    }
  }

  /** Takes from what is left. Error: RenderLimitError. */
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

/** Counts things that are looked at one by one. All counting comes before the work. */
export function countSteps(steps = 1): void {
  current?.take(steps, 0);
}

/** Counts a text that is read as a whole, such as one that is searched. */
export function countRead(units: number): void {
  current?.take(1 + units / UNITS_PER_STEP, 0);
}

/** Counts a search for a text in another: engines compare long ones again and again. */
export function countSearch(units: number, wanted: number): void {
  const compared = Math.min(units, wanted) / COMPARED_PER_UNIT;
  current?.take(1 + (units / UNITS_PER_STEP) * Math.max(1, compared), 0);
}

/** Counts a text that is made. */
export function countText(units: number): void {
  current?.take(1 + units / UNITS_PER_STEP, BYTES_PER_OBJECT + BYTES_PER_UNIT * units);
}

/** Counts a list or a dictionary that is made of items that are there already. */
export function countItems(items: number): void {
  current?.take(1 + items / ITEMS_PER_STEP, BYTES_PER_OBJECT + BYTES_PER_ITEM * items);
}

/** Counts objects that are made one by one, such as the characters of a text or a loop's scopes. */
export function countObjects(objects: number): void {
  current?.take(objects, BYTES_PER_OBJECT * objects);
}
