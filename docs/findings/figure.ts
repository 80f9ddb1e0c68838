// Pictures of findings as SVG: heat maps, bars and lines, each with a title and a sentence. Plain text in,
// plain text out; colours are those of ColorBrewer's Blues, as a scale from white.

/** A picture, which is drawn part by part from the top. */
export class Figure {
  readonly #width: number;
  readonly #parts: string[] = [];
  #height = 16;

  /** @param width in pixels */
  constructor(title: string, sentence: string, width = 720) {
    this.#width = width;
    this.#line(title, { size: 18, weight: "bold", height: 26 });
    for (const line of wrapped(sentence, width / 7.6)) this.#line(line, { height: 19 });
    this.#height += 12;
  }

  /** A line of text. */
  text(line: string): this {
    this.#line(line, { height: 19 });
    return this;
  }

  /**
   * A table of cells, each as dark as its value.
   *
   * @param values [rows][columns], from 0 to 1; negative ones are red
   * @param labels of rows and columns, and texts in cells
   */
  heatMap(
    values: readonly (readonly number[])[],
    { rows, columns, cells, slanted = false }: {
      rows: readonly string[];
      columns: readonly string[];
      cells?: readonly (readonly string[])[];
      /** Whether the columns' labels are long. */
      slanted?: boolean;
    },
  ): this {
    const left = 14 + 7.4 * Math.max(...rows.map((label) => label.length));
    const size = (this.#width - left - 24) / columns.length;
    const height = Math.min(28, Math.max(18, size));
    const below = slanted ? 10 + 6 * Math.max(...columns.map((label) => label.length)) : 22;
    for (const [row, own] of values.entries()) {
      const y = this.#height + row * height;
      this.#text(left - 6, y + height / 2 + 4, rows[row]!, { anchor: "end" });
      for (const [column, value] of own.entries()) {
        const x = left + column * size;
        this.#rectangle(x, y, size - 1, height - 1, shade(value));
        const said = cells?.[row]?.[column];
        const color = Math.abs(value) > 0.55 ? "#fff" : "#222";
        if (said) {
          this.#text(x + size / 2, y + height / 2 + 4, said.trim() ? said : visible(said), {
            anchor: "middle",
            color,
          });
        }
      }
    }
    const y = this.#height + values.length * height + 12;
    for (const [column, label] of columns.entries()) {
      const x = left + (column + 0.5) * size;
      this.#text(
        x,
        y,
        label.trim() ? label : visible(label),
        slanted ? { anchor: "end", turn: -60 } : { anchor: "middle" },
      );
    }
    this.#height = y + below;
    return this;
  }

  /** Horizontal bars from 0 to the greatest value. @param notes behind the bars */
  bars(
    bars: readonly { label: string; value: number; note?: string; color?: string }[],
    most = Math.max(...bars.map(({ value }) => value)),
  ): this {
    const left = 14 + 7.4 * Math.max(...bars.map(({ label }) => label.length));
    const room = this.#width - left - 190;
    for (const { label, value, note, color = "#2171b5" } of bars) {
      this.#text(left - 6, this.#height + 13, label, { anchor: "end" });
      const width = Math.max(1, room * value / most);
      this.#rectangle(left, this.#height + 2, width, 14, color);
      if (note) this.#text(left + width + 6, this.#height + 13, note);
      this.#height += 20;
    }
    this.#height += 10;
    return this;
  }

  /** Lines over a common axis. @param points [x, y] each */
  lines(
    lines: readonly { label: string; points: readonly (readonly [number, number])[] }[],
    { across, up, logarithmic = false }: { across: string; up: string; logarithmic?: boolean },
  ): this {
    const scale = (y: number) => logarithmic ? Math.log10(Math.max(y, 1e-12)) : y;
    const [left, height, right] = [64, 220, 170];
    this.#height += 14;
    const all = lines.flatMap(({ points }) => points);
    const [x0, x1] = rangeOf(all.map(([x]) => x));
    const [y0, y1] = rangeOf(all.map(([, y]) => scale(y)));
    const room = this.#width - left - right;
    const at = ([x, y]: readonly [number, number]) => [
      left + room * (x - x0) / (x1 - x0),
      this.#height + height * (1 - (scale(y) - y0) / (y1 - y0)),
    ];
    const told = (y: number) => logarithmic ? (10 ** y).toExponential(0) : y.toFixed(2);
    for (const y of [y0, (y0 + y1) / 2, y1]) {
      const height_ = this.#height + height * (1 - (y - y0) / (y1 - y0));
      this.#parts.push(
        `<path d="M${left} ${height_.toFixed(1)}h${room}" stroke="#ddd" fill="none"/>`,
      );
      this.#text(left - 6, height_ + 4, told(y), { anchor: "end" });
    }
    const ends: number[] = [];
    for (const [index, { label, points }] of lines.entries()) {
      const color = COLORS[index % COLORS.length]!;
      const path = points.map((point) => at(point).map((value) => value.toFixed(1)).join(" "));
      this.#parts.push(
        `<path d="M${path.join("L")}" stroke="${color}" fill="none" stroke-width="2"/>`,
      );
      // Names of lines that end at one place stand below each other.
      let y = at(points.at(-1)!)[1]! + 4;
      while (ends.some((other) => Math.abs(other - y) < 14)) y += 14;
      ends.push(y);
      this.#text(left + room + 8, y, label, { color });
    }
    this.#text(left, this.#height + height + 20, `${told0(x0)}`, { anchor: "middle" });
    this.#text(left + room, this.#height + height + 20, `${told0(x1)}`, { anchor: "middle" });
    this.#text(left + room / 2, this.#height + height + 20, across, { anchor: "middle" });
    this.#text(left, this.#height - 8, up);
    this.#height += height + 36;
    return this;
  }

  /** The file. */
  toString(): string {
    const [width, height] = [this.#width, Math.ceil(this.#height + 8)];
    return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" ` +
      `font-family="ui-monospace, monospace" font-size="12">` +
      `<rect width="${width}" height="${height}" fill="#fff"/>${this.#parts.join("")}</svg>\n`;
  }

  #line(text: string, { size = 12, weight = "normal", height }: {
    size?: number;
    weight?: string;
    height: number;
  }): void {
    this.#height += height;
    this.#parts.push(
      `<text x="12" y="${this.#height - 8}" font-size="${size}" font-weight="${weight}" ` +
        `fill="#111">${escaped(text)}</text>`,
    );
  }

  #text(x: number, y: number, text: string, { anchor = "start", color = "#333", turn = 0 }: {
    anchor?: "start" | "middle" | "end";
    color?: string;
    turn?: number;
  } = {}): void {
    const [left, top] = [x.toFixed(1), y.toFixed(1)];
    const turned = turn ? ` transform="rotate(${turn} ${left} ${top})"` : "";
    this.#parts.push(
      `<text x="${left}" y="${top}" text-anchor="${anchor}" fill="${color}"${turned}>` +
        `${escaped(text)}</text>`,
    );
  }

  #rectangle(x: number, y: number, width: number, height: number, color: string): void {
    const [left, top, across, down] = [x, y, width, height].map((value) => value.toFixed(1));
    this.#parts.push(
      `<rect x="${left}" y="${top}" width="${across}" height="${down}" fill="${color}"/>`,
    );
  }
}

const COLORS = ["#2171b5", "#cb181d", "#238b45", "#6a51a3", "#d94801"];

/** White for 0, blue for 1, red for -1. */
function shade(value: number): string {
  const share = Math.min(1, Math.abs(value));
  const [r, g, b] = value < 0 ? [203, 24, 29] : [8, 81, 156];
  const mixed = [r!, g!, b!].map((part) => Math.round(255 + (part - 255) * share));
  return `rgb(${mixed.join(",")})`;
}

function rangeOf(values: readonly number[]): [number, number] {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  return least === most ? [least - 1, most + 1] : [least, most];
}

function told0(value: number): string {
  return Number.isInteger(value) ? `${value}` : value.toFixed(1);
}

function wrapped(text: string, columns: number): string[] {
  const lines = [""];
  for (const word of text.split(" ")) {
    if (lines.at(-1)!.length + word.length + 1 > columns) lines.push("");
    lines[lines.length - 1] += (lines.at(-1) === "" ? "" : " ") + word;
  }
  return lines;
}

/** White space as something to see. */
function visible(text: string): string {
  return text.replaceAll(" ", "␣").replaceAll("\n", "⏎");
}

/** Text as XML has it. */
function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")
    .replaceAll("\n", "⏎");
}
