// The token view: an answer as its tokens with what else might have come, from where one can go on with
// another; and any text as the tokens of a model.

import { useEffect, useRef, useState } from "preact/hooks";
import { ask, isAbort, messageOf, stream } from "../api/client.ts";
import { chosenModel, refreshLoaded } from "../api/models.ts";
import type { AnswerRecord, TokenLogprob, TokenProbability } from "../api/types.ts";
import { requestOf } from "../chat/answering.ts";
import { ModelPicker } from "../chat/model_picker.tsx";
import { conversations } from "../chat/store.ts";
import { newConversation, newId, withNode } from "../chat/tree.ts";
import { Likeliest } from "../schema/mask_details.tsx";
import { text } from "../strings.ts";
import { Field, Notice, Segments, ViewHead } from "../ui/controls.tsx";
import { formatCount, showToken } from "../ui/format.ts";
import { TokenStrip } from "./token_strip.tsx";

const VIEWS = [["answer", text.tokens.views.answer], ["text", text.tokens.views.text]] as const;

/** The view; `argument` names a conversation and an answer in it. */
export function TokensView({ argument }: { argument: string }) {
  const [view, setView] = useState<"answer" | "text">("answer");
  return (
    <div class="view">
      <div class="view-inner">
        <ViewHead title={text.tokens.title} lead={text.tokens.lead}>
          <Segments label={text.tokens.view} value={view} options={VIEWS} onChange={setView} />
          <ModelPicker />
        </ViewHead>
        {view === "answer" ? <AnswerTokens argument={argument} /> : <TextTokens />}
      </div>
    </div>
  );
}

function AnswerTokens({ argument }: { argument: string }) {
  const [question, setQuestion] = useState("");
  const run = useAnswer();
  const { tokens, isRunning, fault, state } = run;
  const [chosen, choose] = useState(0);
  const isKnown = conversations.value.length > 0;
  useEffect(() => {
    if (argument && isKnown && chosenModel.value) void run.look(argument);
  }, [argument, isKnown, chosenModel.value?.name]);
  const token = tokens[Math.min(chosen, tokens.length - 1)];
  const goOn = (index: number, alternative: TokenProbability) => void run.goOn(index, alternative);
  return (
    <>
      <form
        class="card stack"
        onSubmit={(event) => {
          event.preventDefault();
          choose(0);
          void run.ask(question);
        }}
      >
        <Field label={text.tokens.prompt}>
          <textarea
            rows={2}
            value={question}
            onInput={(event) => setQuestion(event.currentTarget.value)}
          />
        </Field>
        <div class="row">
          {isRunning
            ? <button type="button" class="quiet" onClick={run.stop}>{text.common.stop}</button>
            : (
              <button
                type="submit"
                class="primary"
                disabled={!question.trim() || !chosenModel.value}
              >
                {text.tokens.run}
              </button>
            )}
          {state && <span class="aside" role="status">{state}</span>}
        </div>
      </form>
      {fault && <Notice kind="error">{fault}</Notice>}
      {tokens.length === 0 ? <p class="aside">{text.tokens.empty}</p> : (
        <div class="workbench">
          <section class="card stack" aria-label={text.tokens.views.answer}>
            <TokenStrip
              tokens={tokens}
              chosen={Math.min(chosen, tokens.length - 1)}
              onChoose={choose}
              colour="probability"
              label={text.tokens.views.answer}
            />
            <p class="aside">{text.tokens.legend}</p>
          </section>
          {token && (
            <section class="card stack" aria-label={text.tokens.alternatives}>
              <p>
                <code class="token-name">{showToken(token.token)}</code>
              </p>
              <Likeliest
                title={text.tokens.alternatives}
                list={token.top_logprobs}
                chosen={token.token}
                onChoose={(alternative) => goOn(Math.min(chosen, tokens.length - 1), alternative)}
              />
              <p class="aside">{text.tokens.alternativesHint}</p>
            </section>
          )}
        </div>
      )}
    </>
  );
}

const OPTIONS = { temperature: 0, num_predict: 300 };
const LOGPROBS = { logprobs: true, top_logprobs: 10 };

/** An answer with the probabilities of its tokens, and the prompt that it is the answer to. */
function useAnswer() {
  const [tokens, setTokens] = useState<TokenLogprob[]>([]);
  const [isRunning, setRunning] = useState(false);
  const [fault, setFault] = useState("");
  const [state, setState] = useState("");
  const prompt = useRef("");
  const abort = useRef<AbortController | undefined>(undefined);
  useEffect(() => () => abort.current?.abort(), []);

  const guarded = async (action: (signal: AbortSignal) => Promise<void>) => {
    abort.current?.abort();
    const { signal } = abort.current = new AbortController();
    setFault("");
    setRunning(true);
    try {
      await action(signal);
    } catch (error) {
      if (!isAbort(error)) setFault(messageOf(error));
    }
    if (abort.current.signal !== signal) return;
    setState("");
    setRunning(false);
    void refreshLoaded();
  };
  /** The prompt that a chat would run, as its template lays it out. */
  const render = async (body: Record<string, unknown>, signal: AbortSignal) => {
    const { _debug_info: info } = await ask<AnswerRecord>("/api/chat", {
      body: { ...body, stream: false, _debug_render_only: true },
      signal,
    });
    prompt.current = info!.rendered_template;
  };
  const write = async (before: readonly TokenLogprob[], extra: object, signal: AbortSignal) => {
    setTokens([...before]);
    const written = before.map(({ token }) => token).join("");
    const model = chosenModel.value!.name;
    const body = { model, prompt: prompt.current + written, raw: true, ...LOGPROBS, ...extra };
    for await (const record of stream<AnswerRecord>("/api/generate", { body, signal })) {
      const told = record.logprobs ?? [];
      if (told.length > 0) setTokens((known) => [...known, ...told]);
    }
  };
  const asChat = (content: string) => {
    const node = { id: newId(), parent: null, role: "user" as const, content, created: 0 };
    return requestOf(withNode(newConversation(""), node), chosenModel.value!.name);
  };

  return {
    tokens,
    isRunning,
    fault,
    state,
    stop: () => abort.current?.abort(),
    ask: (question: string) =>
      guarded(async (signal) => {
        await render(asChat(question), signal);
        await write([], { options: OPTIONS }, signal);
      }),
    /** Goes on with another token in the place of one. */
    goOn: (index: number, { token, logprob, bytes }: TokenProbability) =>
      guarded(async (signal) => {
        const shown = tokens[index]!;
        const other = { ...shown, token, logprob, bytes };
        await write([...tokens.slice(0, index), other], { options: OPTIONS }, signal);
      }),
    /** Shows an answer of a conversation: its text is written again, so that its probabilities are known. */
    look: (argument: string) =>
      guarded(async (signal) => {
        const [id, nodeId] = argument.split("/");
        const conversation = conversations.value.find((one) => one.id === id);
        const node = conversation?.nodes[nodeId ?? ""];
        if (!conversation || !node) return;
        await render(
          requestOf({ ...conversation, leaf: node.parent }, chosenModel.value!.name),
          signal,
        );
        if (node.logprobs) return setTokens(node.logprobs);
        setState(text.tokens.scoring);
        const grammar = `root ::= ${JSON.stringify(node.content)}`;
        await write([], { options: { ...OPTIONS, num_predict: -1 }, grammar }, signal);
      }),
  };
}

interface TextToken {
  id: number;
  text: string;
  bytes: number[];
}

/** How long nobody may write before the text is sent, in milliseconds. */
const PAUSE = 250;

/** The view. */
function TextTokens() {
  const [value, setValue] = useState<string>(text.tokens.sample);
  const [tokens, setTokens] = useState<TextToken[]>([]);
  const [fault, setFault] = useState("");
  const model = chosenModel.value?.name;
  useEffect(() => {
    if (!model) return;
    const abort = new AbortController();
    const timer = setTimeout(async () => {
      try {
        const { signal } = abort;
        const body = { model, text: value };
        setTokens((await ask<{ tokens: TextToken[] }>("/api/tokenize", { body, signal })).tokens);
        setFault("");
      } catch (error) {
        if (!isAbort(error)) setFault(messageOf(error));
      }
    }, PAUSE);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [value, model]);
  return (
    <div class="workbench">
      <section class="card stack">
        <Field label={text.tokens.text}>
          <textarea
            rows={8}
            value={value}
            onInput={(event) => setValue(event.currentTarget.value)}
          />
        </Field>
      </section>
      <section class="card stack" aria-label={text.tokens.title}>
        {fault && <Notice kind="error">{fault}</Notice>}
        <p class="aside" role="status">
          {text.tokens.count(formatCount(tokens.length), formatCount([...value].length))}
        </p>
        <ol class="text-tokens">
          {tokens.map(({ id, text: part, bytes }, index) => (
            <li key={index} title={`${text.tokens.bytes}: ${bytes.join(" ")}`}>
              <code>{part.includes("\uFFFD") ? showBytes(bytes) : showToken(part)}</code>
              <span>{id}</span>
            </li>
          ))}
        </ol>
      </section>
    </div>
  );
}

/** Part of a character as its bytes: it is no text by itself. */
function showBytes(bytes: readonly number[]): string {
  return bytes.map((byte) => `\\x${byte.toString(16).padStart(2, "0")}`).join("");
}
