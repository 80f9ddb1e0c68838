// What is sent of a turn while it is spoken: the words on which two passes agree, without a model and by a
// clock of the test's own; and a real voice through the real whisper-base (shared data, QUERN_WHISPER).

import { assert, assertEquals } from "@std/assert";
import { loadModel, type TranscribeEvent } from "../../../../../engine/mod.ts";
import { AgreedText } from "../../../../../server/http/api/audio/agreed_text.ts";
import { LiveTurn, type Pass } from "../../../../../server/http/api/audio/live_turn.ts";
import { SoundBuffer } from "../../../../../server/http/api/audio/sound_buffer.ts";

/** What is sent after each pass, and at the end. */
function sentOf(passes: string[], transcript: string): string[] {
  const text = new AgreedText();
  return [...passes.map((pass) => text.take(pass)), text.finish(transcript)];
}

Deno.test("words are sent when two passes agree on them, and the last word waits", () => {
  const passes = [
    " I have",
    " I have a drink.",
    " I have a dream that won",
    " I have a dream that one day",
    " I have a dream that one day",
  ];
  const transcript = "I have a dream that one day this nation will rise.";
  const sent = sentOf(passes, transcript);
  assertEquals(sent, ["", "I have", " a", " dream that", " one", " day this nation will rise."]);
  assertEquals(sent.join(""), transcript);
});

Deno.test("what was sent is not taken back, and is said no second time where it turns out to be wrong", () => {
  const one = " In the year 1961";
  assertEquals(
    sentOf([`${one} he`, `${one} he spoke`], "In the years 1961 he spoke of Sputnik."),
    ["", "In the year 1961 he", " spoke of Sputnik."],
  );
  assertEquals(
    sentOf(
      [" Well, I think so", " Well, I think so too", " I think so too because"],
      "I think so.",
    ),
    ["", "Well, I think so", " too", ""],
  );
  assertEquals(sentOf([" a b c", " a b c d"], "Quite another text"), ["", "a b c", ""]);
  assertEquals(sentOf([], "All of it. "), ["All of it. "]);
});

Deno.test("scripts without spaces are sent character by character", () => {
  const transcript = "今日は、いい天気です。";
  const sent = sentOf(["今日は、いい転機", "今日は、いい天気です"], transcript);
  assertEquals(sent, ["", "今日は、いい", "天気です。"]);
});

Deno.test("a word that changes does not hold up those behind it for ever", () => {
  const [one, other] = [" dry for several weeks. My", " right for several weeks. My uncle"];
  assertEquals(sentOf([one, other], "dry for several weeks. My uncle opened."), [
    "",
    "right for several weeks. My",
    " uncle opened.",
  ]);
  assertEquals(sentOf([" a nest to the", " an extra wall"], "an extra wall"), [
    "",
    "",
    "an extra wall",
  ]);
});

Deno.test("sentences that were sent are settled, and what follows them goes on", () => {
  const text = new AgreedText();
  text.take(" One two. Three");
  assertEquals(text.settle(), 0);
  assertEquals(text.take(" One two. Three four"), "One two. Three");
  assertEquals(text.settle(), " One two.".length);
  assertEquals(text.settled, "One two.");
  // Passes hear only what follows from now on.
  assertEquals(text.take(" Three four five"), " four");
  assertEquals(text.take(" Three four five six."), " five");
  assertEquals(text.finish("One two. Three four five six."), " six.");
});

Deno.test("of a sentence that does not end the last twenty words are heard again", () => {
  const text = new AgreedText();
  const words = Array.from({ length: 31 }, (_, i) => ` w${i}`);
  text.take(words.join(""));
  text.take(words.join(""));
  assertEquals(text.settle(), words.slice(0, 10).join("").length);
});

/** A turn whose passes the test answers, by a clock that the test sets. */
function scripted() {
  const passes: (Pass & { answer(...texts: string[]): Promise<void> })[] = [];
  const sent: string[] = [];
  const state = { now: 0, isBusy: false };
  const turn = new LiveTurn("item", 0, {
    async *transcribe(pass): AsyncGenerator<TranscribeEvent> {
      const answered = Promise.withResolvers<string[]>();
      pass.signal.addEventListener("abort", () => answered.reject(pass.signal.reason));
      const answer = async (...texts: string[]) => {
        answered.resolve(texts);
        await new Promise((resolve) => setTimeout(resolve));
      };
      passes.push({ ...pass, answer });
      for (const [i, text] of (await answered.promise).entries()) {
        const rest = { tokens: [], temperature: 0, meanLogprob: 0, compression: 1, noSpeech: 0 };
        yield { type: "segment", start: 5 * i, end: 5 * (i + 1), text, seek: 0, ...rest };
      }
    },
    send: (delta) => Promise.resolve(void sent.push(delta)),
    isBusy: () => state.isBusy,
    now: () => state.now,
  });
  const sound = new SoundBuffer("pcm16");
  const hear = (milliseconds: number) => {
    sound.add(new Uint8Array(48 * milliseconds));
    turn.listen(sound, 1000);
  };
  return { turn, hear, passes, sent, state };
}

/** Seconds of sound that a pass hears. */
function secondsOf({ audio }: Pass): number {
  return (audio.length - 44) / 48_000;
}

Deno.test("a pass begins after a second of new sound, alone, and no sooner than the last one took", async () => {
  const { hear, passes, sent, state } = scripted();
  hear(900);
  assertEquals(passes.length, 0);
  hear(100);
  assertEquals(passes.map(secondsOf), [1]);
  hear(1500);
  assertEquals(passes.length, 1);
  state.now = 3000;
  await passes[0].answer(" Good");
  hear(0);
  state.now = 5999;
  hear(0);
  assertEquals(passes.length, 1);
  state.now = 6000;
  state.isBusy = true;
  hear(0);
  assertEquals(passes.length, 1);
  state.isBusy = false;
  hear(0);
  assertEquals(passes.map(secondsOf), [1, 2.5]);
  await passes[1].answer(" Good day");
  assertEquals(sent, ["Good"]);
});

Deno.test("the end of a turn aborts the pass under way, and nothing of that is sent", async () => {
  const { turn, hear, passes, sent } = scripted();
  hear(1000);
  await passes[0].answer(" Good day to");
  hear(1000);
  const stopped = turn.stop();
  assert(passes[1].signal.aborted);
  await passes[1].answer(" Good day to you");
  await stopped;
  assertEquals(sent, []);
  await turn.tell("Good day.", false);
  await turn.tell("Good day. Bye.", false);
  await turn.tell("Good day. Bye.", true);
  assertEquals(sent, ["Good day.", " Bye."]);
});

Deno.test("passes of a long turn leave out its sentences that were sent, which come before as text", async () => {
  const { hear, passes, sent } = scripted();
  hear(5000);
  await passes[0].answer(" One.", " Two.");
  hear(1000);
  await passes[1].answer(" One.", " Two. Three");
  hear(1000);
  assertEquals(sent, ["One. Two."]);
  // The second segment, whose words have no times, has not been sent to its end.
  assertEquals(passes.map(secondsOf), [5, 6, 2]);
  assertEquals(passes.map(({ words }) => words), [false, true, false]);
  assertEquals(passes.map(({ before }) => before), ["", "", "One. Two."]);
});

Deno.test("after a pass that fails there is no other one in its turn", async () => {
  let passes = 0;
  const turn = new LiveTurn("item", 0, {
    transcribe() {
      passes++;
      throw new Error("the model is gone");
    },
    send: () => Promise.resolve(),
    isBusy: () => false,
  });
  const sound = new SoundBuffer("pcm16");
  for (let i = 0; i < 3; i++) {
    sound.add(new Uint8Array(48 * 1000));
    turn.listen(sound, 1000);
    await new Promise((resolve) => setTimeout(resolve));
  }
  assertEquals(passes, 1);
});

const voice = new URL("../../../../../../shared/data/whisper/jfk.wav", import.meta.url);
const path = Deno.env.get("QUERN_WHISPER");
const hasVoice = path !== undefined && await Deno.stat(voice).then(() => true, () => false);

Deno.test({
  name: "most of what a voice says is sent before it has ended (shared data, QUERN_WHISPER)",
  ignore: !hasVoice,
  async fn() {
    await using model = await loadModel(path!, { device: { kind: "cpu" } });
    const file = await Deno.readFile(voice);
    const sent: string[] = [];
    const passes: Promise<void>[] = [];
    const turn = new LiveTurn("item", 0, {
      async *transcribe({ audio, before, words, signal }) {
        const pass = Promise.withResolvers<void>();
        passes.push(pass.promise);
        try {
          yield* model.transcribe({ audio, prompt: before, words, rough: true, signal });
        } finally {
          pass.resolve();
        }
      },
      send: (delta) => Promise.resolve(void sent.push(delta)),
      isBusy: () => false,
      // Passes take no time, so that there is one for every second on any machine.
      now: () => 0,
    });
    const sound = new SoundBuffer("pcm16");
    for (let at = 44; at < file.length; at += 32_000) {
      sound.add(twentyFour(file.subarray(at, at + 32_000)));
      turn.listen(sound, 1000);
      await passes.at(-1);
      await new Promise((resolve) => setTimeout(resolve));
    }
    await turn.stop();
    const early = sent.join("");
    let transcript = "";
    for await (const event of model.transcribe({ audio: file })) {
      if (event.type === "segment") transcript = (transcript + event.text).trimStart();
    }
    await turn.tell(transcript, true);
    // Marks may change until the end.
    const words = (text: string) => text.toLowerCase().match(/\p{L}+/gu);
    assertEquals(words(sent.join("")), words(transcript));
    assert(early.length > transcript.length / 2, early);
  },
});

/** 16-bit samples of 16 kHz at 24 kHz, the ones between by straight lines. */
function twentyFour(bytes: Uint8Array): Uint8Array {
  const from = new Int16Array(bytes.slice().buffer);
  const to = Int16Array.from({ length: 3 * from.length / 2 }, (_, i) => {
    const at = Math.floor(2 * i / 3);
    const part = 2 * i / 3 - at;
    return (1 - part) * from[at] + part * (from[at + 1] ?? from[at]);
  });
  return new Uint8Array(to.buffer);
}
