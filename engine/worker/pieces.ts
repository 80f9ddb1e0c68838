// Requests in pieces. postMessage copies a whole value before anybody else has a turn: 120 ms for one of
// 200,000 members, 25 ms for a text of 32 MB. Taken apart, a value goes over as many short messages:
// flat lists of texts and numbers, beside the marks that say how they belong together.

/** A part of a value. */
export interface Piece {
  /** What comes next in the value, step by step: one of the marks below. */
  marks: Uint8Array;
  /** What the marks are about, for those that are about something. */
  values: unknown[];
}

/**
 * TEXT: a part of a text that is not its last. VALUE: all others that are neither arrays nor plain
 * objects, or the last part of a text. KEY: of the member that comes next. ARRAY, OBJECT: the beginning
 * of one, and END its end. SAME: the one that was the nth to begin, once more.
 */
const [TEXT, VALUE, KEY, ARRAY, OBJECT, END, SAME] = [0, 1, 2, 3, 4, 5, 6];

/** Marks of a piece, which is copied in less than a millisecond. */
const PIECE_MARKS = 2000;
/** Characters of a piece, roughly. */
const PIECE_CHARACTERS = 2 ** 20;

/** An array, or a plain object and its keys, and how many of its elements or members were taken. */
type Open =
  & { taken: number }
  & (
    | { elements: readonly unknown[]; keys?: never }
    | { members: Record<string, unknown>; keys: readonly string[] }
  );

/** Takes a value apart. It must not change meanwhile. */
export function* takeApart(value: unknown): Generator<Piece, void> {
  let piece = new PieceWriter();
  const open: Open[] = [];
  const begun = new Map<unknown, number>();
  let next = value;
  for (;;) {
    if (typeof next === "string") {
      let at = 0;
      for (; next.length - at > PIECE_CHARACTERS; at += PIECE_CHARACTERS) {
        piece.add(TEXT, next.slice(at, at + PIECE_CHARACTERS));
        yield piece.finish();
        piece = new PieceWriter();
      }
      piece.add(VALUE, next.slice(at));
    } else if (Array.isArray(next) || isPlain(next)) {
      const earlier = begun.get(next);
      if (earlier !== undefined) piece.add(SAME, earlier);
      else {
        begun.set(next, begun.size);
        if (Array.isArray(next)) open.push({ elements: next, taken: 0 });
        else open.push({ members: next, keys: Object.keys(next), taken: 0 });
        piece.mark(Array.isArray(next) ? ARRAY : OBJECT);
      }
    } else piece.add(VALUE, next);
    for (;;) {
      if (piece.isFull) {
        yield piece.finish();
        piece = new PieceWriter();
      }
      const last = open.at(-1);
      if (!last) return yield piece.finish();
      const index = last.taken++;
      if (last.keys && index < last.keys.length) {
        const key = last.keys[index]!;
        piece.add(KEY, key);
        next = last.members[key];
        break;
      }
      if (!last.keys && index < last.elements.length) {
        next = last.elements[index];
        break;
      }
      piece.mark(END);
      open.pop();
    }
  }
}

/**
 * Sends a value in pieces, with a pause after each but the last, until all went or nobody wants it any
 * more.
 */
export function* sendPieces(
  value: unknown,
  send: (piece: Piece, isLast: boolean) => void,
  isWanted: () => boolean,
): Generator<void, void> {
  let piece: Piece | undefined;
  for (const next of takeApart(value)) {
    if (piece) {
      send(piece, false);
      yield;
      if (!isWanted()) return;
    }
    piece = next;
  }
  if (piece) send(piece, true);
}

/** The pace of who takes pieces, for who sends them. */
export class Pace {
  #ahead: number;
  #waiting: (() => void) | undefined;

  /** @param ahead pieces that may be sent before one is taken */
  constructor(ahead: number) {
    this.#ahead = ahead;
  }

  /** Notes that a piece was taken. */
  taken(): void {
    this.#ahead++;
    this.#waiting?.();
  }

  /** Notes that a piece was sent, and settles when the next may be. */
  async next(): Promise<void> {
    this.#ahead--;
    while (this.#ahead <= 0) await new Promise<void>((resolve) => this.#waiting = resolve);
  }
}

function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

class PieceWriter {
  readonly #marks = new Uint8Array(PIECE_MARKS + 2);
  readonly #values: unknown[] = [];
  #length = 0;
  #characters = 0;

  get isFull(): boolean {
    return this.#length >= PIECE_MARKS || this.#characters >= PIECE_CHARACTERS;
  }

  mark(mark: number): void {
    this.#marks[this.#length++] = mark;
  }

  add(mark: number, value: unknown): void {
    this.mark(mark);
    this.#values.push(value);
    if (typeof value === "string") this.#characters += value.length;
  }

  finish(): Piece {
    return { marks: this.#marks.slice(0, this.#length), values: this.#values };
  }
}

/** Puts a value together again. */
export class PieceJoiner {
  readonly #open: { container: unknown[] | Record<string, unknown>; key: string }[] = [];
  readonly #begun: unknown[] = [];
  #text = "";
  #whole: unknown;

  /** The value, once all pieces of it were added. */
  get whole(): unknown {
    return this.#whole;
  }

  /** Adds the next piece. */
  add({ marks, values }: Piece): void {
    let at = 0;
    for (const mark of marks) {
      if (mark === TEXT) this.#text += values[at++];
      else if (mark === KEY) this.#open.at(-1)!.key = values[at++] as string;
      else if (mark === ARRAY) this.#begin([]);
      else if (mark === OBJECT) this.#begin({});
      else if (mark === SAME) this.#place(this.#begun[values[at++] as number]);
      else if (mark === END) this.#place(this.#open.pop()!.container);
      else {
        const value = values[at++];
        this.#place(this.#text === "" ? value : this.#text + value);
        this.#text = "";
      }
    }
  }

  #begin(container: unknown[] | Record<string, unknown>): void {
    this.#begun.push(container);
    this.#open.push({ container, key: "" });
  }

  #place(value: unknown): void {
    const last = this.#open.at(-1);
    if (!last) this.#whole = value;
    else if (Array.isArray(last.container)) last.container.push(value);
    else if (last.key !== "__proto__") last.container[last.key] = value;
    else {
      // It is a member like others. To define it takes twenty times as long as to set it.
      Object.defineProperty(last.container, last.key, {
        value,
        writable: true,
        enumerable: true,
        configurable: true,
      });
    }
  }
}
