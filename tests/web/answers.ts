// Answers that no model would write when it is asked to, and files that go with questions.

/** What an answer may hold that must not become anything. */
const HOSTILE = [
  '<img src="http://example.com/a.png" onerror="window.wasRun = true">',
  "<script>window.wasRun = true</script>",
  "[click](javascript:window.wasRun=true) ![picture](http://example.com/b.png)",
  '<iframe src="http://example.com/"></iframe> <a href="http://example.com" ping="http://example.com/p">x</a>',
  "[data](data:text/html,<script>window.wasRun=true</script>)",
  "$\\href{javascript:window.wasRun=true}{x}$ $\\includegraphics{http://example.com/c.png}$",
  '<svg onload="window.wasRun = true"><style>* { display: none }</style></svg>',
].join("\n\n");

const RICH = [
  "## A table\n\n| a | b |\n|--|--:|\n| 1 | 2 |\n\n",
  "```ts\nconst a: number = 1;\n```\n\n",
  "Inline $e^{i\\pi} + 1 = 0$ and\n\n$$\\int_0^1 x^2 \\, dx = \\frac{1}{3}$$\n\n- [x] done\n- [ ] open\n",
];

/** 2,000 tokens of Markdown, about as fast as a good GPU writes them. */
const LONG = Array.from(
  { length: 2000 },
  (_, index) =>
    index % 100 === 99
      ? '\n\n```json\n{ "a": 1 }\n```\n\n'
      : index % 20 === 19
      ? ".\n\n"
      : ` word${index}`,
);

/** The questions that the proxy answers. */
export const SCRIPT = {
  hostile: { pieces: [HOSTILE], pause: 0 },
  rich: { pieces: RICH, pause: 5 },
  forgetful: {
    pieces: ["What was that?"],
    pause: 0,
    last: { dropped_messages: 2, dropped_indexes: [0, 1] },
  },
  long: { pieces: LONG, pause: 2 },
  thoughtful: {
    pieces: [
      { thinking: "The weather is asked for, which " },
      { thinking: "a tool knows." },
      "I look it up.",
      { tool_calls: [{ function: { name: "get_weather", arguments: { city: "Bern" } } }] },
    ],
    pause: 5,
  },
};

/** An image of one pixel. */
export const PNG = Uint8Array.fromBase64(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
);

/** A small PDF with a page for each line of text; `trailer` is added to its trailer. */
export function pdfOf(lines: readonly string[], trailer = ""): Uint8Array<ArrayBuffer> {
  const pages = lines.map((_, index) => 4 + 2 * index);
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    `<< /Type /Pages /Kids [${pages.map((id) => `${id} 0 R`).join(" ")}] /Count ${lines.length} >>`,
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ...lines.flatMap((line, index) => {
      const stream = `BT /F1 12 Tf 20 100 Td (${line}) Tj ET`;
      return [
        `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 200] /Contents ${pages[index]! + 1} 0 R ` +
        "/Resources << /Font << /F1 3 0 R >> >> >>",
        `<< /Length ${stream.length} >>\nstream\n${stream}\nendstream`,
      ];
    }),
  ];
  let text = "%PDF-1.4\n";
  const places = objects.map((object, index) => {
    const at = text.length;
    text += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return `${String(at).padStart(10, "0")} 00000 n \n`;
  });
  const [start, size] = [text.length, objects.length + 1];
  text += `xref\n0 ${size}\n0000000000 65535 f \n${places.join("")}`;
  text += `trailer << /Size ${size} /Root 1 0 R ${trailer}>>\nstartxref\n${start}\n%%EOF\n`;
  return new TextEncoder().encode(text);
}
