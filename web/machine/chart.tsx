// A number over the last minutes, as a line. Drawn as SVG: small enough to need no library.

import { text } from "../strings.ts";

/** Points of the line. */
const WIDTH = 300;
const HEIGHT = 70;

/** A line of values, the newest on the right. */
export function Chart({ name, values, most, format, limit }: {
  name: string;
  values: readonly number[];
  /** Points that fit. */
  most: number;
  format: (value: number) => string;
  /** Where the line would be at the top, such as all slots; else the largest value. */
  limit?: number | undefined;
}) {
  const top = limit ?? Math.max(...values, 1e-9);
  const points = values.map((value, index) => {
    const x = WIDTH * (index + most - values.length) / (most - 1);
    return `${x.toFixed(1)},${(HEIGHT - 2 - (HEIGHT - 8) * value / top).toFixed(1)}`;
  });
  const value = format(values.at(-1) ?? 0);
  const last = limit === undefined ? value : text.machine.of(value, format(limit));
  const start = points[0]?.split(",")[0] ?? 0;
  return (
    <figure class="card chart">
      <figcaption>
        <span>{name}</span>
        <strong>{last}</strong>
      </figcaption>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={text.machine.chart(name, last)}
      >
        {points.length > 1 && (
          <>
            <polygon points={`${start},${HEIGHT} ${points.join(" ")} ${WIDTH},${HEIGHT}`} />
            <polyline points={points.join(" ")} />
          </>
        )}
      </svg>
    </figure>
  );
}
