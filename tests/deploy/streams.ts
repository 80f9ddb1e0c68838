// Streams of OpenAI's form that tests ask of whatever stands before Querns: when bytes came, and whether
// the answer came whole.

/** A stream that has ended. */
export interface Answer {
  status: number;
  /** Milliseconds until the first byte, and until the last one. */
  first: number;
  whole: number;
  /** How often bytes came. */
  pieces: number;
  text: string;
  /** Whether it did not come whole: another status, an error as its last event, or no end. */
  failed: boolean;
  cached: number;
  prompt: number;
  headers: Headers;
}

/** What a stream is asked of. */
export interface Asked {
  url: string;
  model: string;
  messages: { role: string; content: string }[];
  /** Tokens that it has. */
  tokens?: number;
  headers?: Record<string, string>;
}

/** A conversation of one message. */
export function says(text: string): Asked["messages"] {
  return [{ role: "user", content: text }];
}

/** After so long an answer has failed. */
const LONGEST_MILLISECONDS = 240_000;

/** Asks for a stream and reads it to its end. */
export async function askStream(
  { url, model, messages, tokens = 20, headers = {} }: Asked,
): Promise<Answer> {
  const began = performance.now();
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    signal: AbortSignal.timeout(LONGEST_MILLISECONDS),
    body: JSON.stringify({
      model,
      messages,
      max_tokens: tokens,
      temperature: 0,
      ignore_eos: true,
      stream: true,
      stream_options: { include_usage: true },
    }),
  });
  let [first, pieces, body] = [0, 0, ""];
  try {
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
      first ||= performance.now() - began;
      pieces++;
      body += chunk;
    }
  } catch {
    body += '\ndata: {"error":"cut off"}\n';
  }
  const lines = body.split("\n").filter((line) => line.startsWith("data: "));
  const events = lines.filter((line) => line.startsWith("data: {"))
    .map((line) => JSON.parse(line.slice(6)));
  const usage = events.findLast((event) => event.usage)?.usage;
  return {
    status: response.status,
    first,
    whole: performance.now() - began,
    pieces,
    text: events.map((event) => event.choices?.[0]?.delta?.content ?? "").join(""),
    failed: response.status !== 200 || events.at(-1)?.error !== undefined ||
      lines.at(-1)?.trim() !== "data: [DONE]",
    cached: usage?.prompt_tokens_details?.cached_tokens ?? 0,
    prompt: usage?.prompt_tokens ?? 0,
    headers: response.headers,
  };
}

/** What came of several streams. */
export interface Outcome {
  asked: number;
  whole: number;
  /** Those that ended in their midst. */
  cut: number;
  /** Those that failed before their first token. */
  failed: number;
}

/** Counts what came of them. */
export function outcomeOf(answers: readonly Answer[]): Outcome {
  const lost = answers.filter(({ failed }) => failed);
  const cut = lost.filter(({ text }) => text !== "").length;
  return {
    asked: answers.length,
    whole: answers.length - lost.length,
    cut,
    failed: lost.length - cut,
  };
}

/** Asks a number of times, so many at once, and does something once a part of them has been asked. */
export async function underLoad(
  { count, atOnce, ask, after, act }: {
    count: number;
    atOnce: number;
    ask: (index: number) => Promise<Answer>;
    after: number;
    act: () => void;
  },
): Promise<Answer[]> {
  const answers: Answer[] = [];
  let next = 0;
  const work = async () => {
    for (let index = next++; index < count; index = next++) {
      if (index === after) act();
      answers.push(await ask(index));
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return answers;
}
