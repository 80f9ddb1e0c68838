// The live route over a real port with Deno's WebSocket, over a model without weights: turns that the server
// finds and those that the client commits, formats, what is refused, and frames that break the protocol.

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { TurnDetector } from "../../../../../server/http/api/audio/turns.ts";
import { createTestApp } from "../../../test_app.ts";
import { serve } from "../../connection/raw_client.ts";

// deno-lint-ignore no-explicit-any
type Event = any;

/** A session: sends events and collects those of the server. */
async function connect(url: string) {
  const socket = new WebSocket(
    `${url.replace("http", "ws")}/v1/realtime?intent=transcription&model=tiny`,
  );
  const events: Event[] = [];
  let arrived = Promise.withResolvers<void>();
  socket.onmessage = ({ data }) => {
    events.push(JSON.parse(data));
    arrived.resolve();
    arrived = Promise.withResolvers();
  };
  await new Promise((resolve, reject) => {
    socket.onopen = resolve;
    socket.onerror = reject;
  });
  return {
    events,
    send: (event: object) => socket.send(JSON.stringify(event)),
    async next(type: string, from = 0): Promise<Event> {
      for (;;) {
        const found = events.slice(from).find((event) => event.type === type);
        if (found) return found;
        await arrived.promise;
      }
    },
    async close() {
      const closed = new Promise((resolve) => socket.onclose = resolve);
      socket.close();
      await closed;
    },
  };
}

/** PCM at 24 kHz as base64. */
function pcm(milliseconds: number, loudness: number): string {
  const samples = Int16Array.from(
    { length: 24 * milliseconds },
    (_, i) => 32767 * loudness * Math.sin(i / 8),
  );
  return new Uint8Array(samples.buffer).toBase64();
}

const append = (audio: string) => ({ type: "input_audio_buffer.append", audio });

Deno.test("the server finds a turn, and tells what was said in it", async () => {
  const test = createTestApp({ info: { transcribes: true } });
  await using server = serve(test.app.fetch);
  const { events, send, next, close } = await connect(server.url);
  const { session } = await next("session.created");
  assertEquals([session.type, session.audio.input.turn_detection.type], [
    "transcription",
    "server_vad",
  ]);
  send({
    type: "session.update",
    session: { type: "transcription", audio: { input: { transcription: { language: "de" } } } },
  });
  for (const loudness of [0.001, 0.001, 0.3, 0.3, 0.3, 0.001, 0.001, 0.001]) {
    send(append(pcm(400, loudness)));
  }
  const { transcript, usage } = await next("conversation.item.input_audio_transcription.completed");
  assertEquals([transcript, usage], ["Good day. Bye.", { type: "duration", seconds: 4.5 }]);
  assertEquals(events.map(({ type }) => type), [
    "session.created",
    "session.updated",
    "input_audio_buffer.speech_started",
    "input_audio_buffer.speech_stopped",
    "input_audio_buffer.committed",
    "conversation.item.added",
    "conversation.item.done",
    "conversation.item.input_audio_transcription.delta",
    "conversation.item.input_audio_transcription.delta",
    "conversation.item.input_audio_transcription.completed",
  ]);
  const [, , start, stop] = events;
  assertEquals([start.audio_start_ms, stop.audio_end_ms], [500, 2500]);
  assertEquals(new Set(events.slice(4).map(({ item, item_id }) => item?.id ?? item_id)).size, 1);
  const { audio, language } = test.loaded[0].transcribeRequests.at(-1)!;
  assertEquals(language, "de");
  const seconds = ((audio as Uint8Array).length - 44) / 48_000;
  assert(seconds > 1.9 && seconds < 2.5, `${seconds} s`);
  await close();
});

Deno.test("words come while somebody speaks, unless the session waits for the end", async () => {
  for (const delay of ["minimal", "xhigh"]) {
    const test = createTestApp({ info: { transcribes: true } });
    await using server = serve(test.app.fetch);
    const { events, send, next, close } = await connect(server.url);
    send({ type: "session.update", session: { audio: { input: { transcription: { delay } } } } });
    const { session } = await next("session.updated");
    assertEquals(session.audio.input.transcription.delay, delay);
    send(append(pcm(400, 0.001)));
    const delta = "conversation.item.input_audio_transcription.delta";
    for (let i = 0; i < 8 && !events.some(({ type }) => type === delta); i++) {
      send(append(pcm(700, 0.3)));
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    send(append(pcm(800, 0.001)));
    const { transcript } = await next("conversation.item.input_audio_transcription.completed");
    const types = events.map(({ type }) => type);
    const isEarly = types.indexOf(delta) < types.indexOf("input_audio_buffer.speech_stopped");
    assertEquals(isEarly, delay === "minimal");
    const told = events.filter(({ type }) => type === delta);
    assertEquals(told.map(({ delta }) => delta).join(""), transcript);
    const { item_id } = await next("input_audio_buffer.committed");
    assertEquals(new Set(told.map(({ item_id }) => item_id)), new Set([item_id]));
    const requests = test.loaded[0].transcribeRequests;
    assertEquals(requests.length > 1, delay === "minimal");
    assertEquals([requests[0].rough, requests.at(-1)!.rough], [
      delay === "minimal" ? true : undefined,
      undefined,
    ]);
    await close();
  }
});

Deno.test("the client commits turns in G.711, in the form of the API's first version", async () => {
  const test = createTestApp({ info: { transcribes: true } });
  await using server = serve(test.app.fetch);
  const { send, next, close } = await connect(server.url);
  send({
    type: "transcription_session.update",
    session: { input_audio_format: "g711_ulaw", turn_detection: null },
  });
  const { session } = await next("transcription_session.updated");
  assertEquals(session.audio.input.format, { type: "audio/pcmu" });
  send(append(new Uint8Array(4000).fill(0x8f).toBase64()));
  send({ type: "input_audio_buffer.clear" });
  await next("input_audio_buffer.cleared");
  send(append(new Uint8Array(1600).fill(0x8f).toBase64()));
  send({ type: "input_audio_buffer.commit" });
  await next("conversation.item.input_audio_transcription.completed");
  const audio = test.loaded[0].transcribeRequests[0].audio as Uint8Array;
  const view = new DataView(audio.buffer);
  assertEquals([view.getUint16(20, true), view.getUint32(24, true), audio.length], [7, 8000, 1644]);
  await close();
});

Deno.test("what cannot be done is told, and the session goes on", async () => {
  const test = createTestApp({ info: { transcribes: true } });
  await using server = serve(test.app.fetch);
  const { events, send, next, close } = await connect(server.url);
  await next("session.created");
  const input = (value: object) => ({ session: { audio: { input: value } } });
  const refused: [event: object, message: string][] = [
    [{ type: "response.create", event_id: "e1" }, "not known in a transcription session"],
    [append("!"), "has to be base64"],
    [{ type: "input_audio_buffer.commit" }, "at least 100 ms"],
    [
      {
        type: "session.update",
        ...input({ turn_detection: { type: "server_vad", threshold: 2 } }),
      },
      "from 0 to 1",
    ],
    [{ type: "session.update", ...input({ transcription: { model: "none" } }) }, "not found"],
    [
      { type: "session.update", ...input({ turn_detection: { type: "semantic_vad" } }) },
      "turn_detection",
    ],
  ];
  for (const [event, message] of refused) {
    const from = events.length;
    send(event);
    const { error } = await next("error", from);
    assertStringIncludes(error.message, message);
    assertEquals(error.type, "invalid_request_error");
  }
  assertEquals(events[1].error.event_id, "e1");
  await close();
});

Deno.test("other requests to the route, and frames that are not masked, are refused", async () => {
  const test = createTestApp({ info: { transcribes: true } });
  for (const query of ["", "?intent=transcription"]) {
    assertEquals((await test.app.request(`/v1/realtime${query}`)).status, 400);
  }
  await using server = serve(test.app.fetch);
  using client = await server.connect();
  await client.send(
    `GET /v1/realtime?intent=transcription HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\n` +
      "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n" +
      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
  );
  // A ping without a mask.
  await client.send(Uint8Array.of(0x89, 0));
  const received: number[] = [];
  const into = new Uint8Array(4096);
  for (let count; (count = await client.connection.read(into)) !== null;) {
    received.push(...into.subarray(0, count));
  }
  const text = String.fromCharCode(...received);
  // The accepted key is that of RFC 6455.
  assertStringIncludes(text, "sec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
  assertStringIncludes(text, "a frame is not valid");
});

Deno.test("turns begin after some speech, and not by a click or a steady noise", () => {
  const options = { threshold: 0.5, prefix_padding_ms: 100, silence_duration_ms: 200 };
  const marksOf = (parts: [milliseconds: number, loudness: number][]) => {
    const detector = new TurnDetector(options, 8000);
    return parts.flatMap(([milliseconds, loudness]) =>
      detector.push(
        Float32Array.from({ length: 8 * milliseconds }, (_, i) => i % 2 ? loudness : -loudness),
      )
    );
  };
  assertEquals(marksOf([[200, 0.001], [40, 0.5], [400, 0.001]]), []);
  assertEquals(marksOf([[2000, 0.001], [100, 0.3], [160, 0.001], [100, 0.3], [400, 0.001]]), [
    { kind: "start", at: 1900 },
    { kind: "stop", at: 2560 },
  ]);
});
