// The chat: the messages of the conversation, the field of questions, and the settings beside them.

import { useEffect, useMemo, useRef } from "preact/hooks";
import { chosenModel, models } from "../api/models.ts";
import type { Model } from "../api/types.ts";
import { go } from "../shell/router.ts";
import { text } from "../strings.ts";
import { ask, growing as growingAnswer } from "./answering.ts";
import { Composer, dropped } from "./composer.tsx";
import { Answer, AnswerEnd, Question, ToolResult, Waiting } from "./message.tsx";
import { DroppedLine, DroppedNotice } from "./meter.tsx";
import { areSettingsOpen, SettingsPanel } from "./settings.tsx";
import { current } from "./store.ts";
import { type MessageNode, pathOf } from "./tree.ts";

export function ChatView() {
  const path = pathOf(current.value);
  const growing = growingAnswer.value;
  const isEmpty = path.length === 0 && !growing;
  const lastFacts = path.findLast(({ facts }) => facts)?.facts;
  const lastDropped = lastFacts?.droppedIds?.at(-1);
  const { scroller, end } = useFollowing();
  const isGrowing = growing !== undefined;
  // Elements that are the same objects are not looked at again with each frame of an answer.
  const past = useMemo(() =>
    path.flatMap((node) => [
      message(node, node === path.at(-1) && !isGrowing),
      node.id === lastDropped && <DroppedLine key="dropped" />,
    ]), [current.value, isGrowing]);
  const composer = useMemo(() => <Composer key={current.value.id} id={current.value.id} />, [
    current.value.id,
  ]);
  return (
    <div
      class={`chat ${isEmpty ? "empty" : ""}`}
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        dropped.value = [...event.dataTransfer?.files ?? []];
      }}
    >
      <div class="chat-main">
        <div
          class="scroller"
          ref={scroller}
          tabIndex={isEmpty ? -1 : 0}
          role="log"
          aria-label={text.chat.log}
        >
          {isEmpty ? <Welcome /> : (
            <div class="messages">
              {[
                ...past,
                growing && (
                  <Answer key={growing.id} answer={growing} isGrowing>
                    <Waiting answer={growing} />
                  </Answer>
                ),
              ]}
              <DroppedNotice count={path.at(-1)?.facts?.dropped ?? 0} />
              <div ref={end} />
            </div>
          )}
        </div>
        {composer}
      </div>
      {areSettingsOpen.value && <SettingsPanel />}
    </div>
  );
}

function message(node: MessageNode, isLast: boolean) {
  if (node.role === "user") return <Question key={node.id} node={node} />;
  if (node.role === "tool") return <ToolResult key={node.id} node={node} />;
  return (
    <Answer key={node.id} answer={node} isLast={isLast}>
      <AnswerEnd node={node} />
    </Answer>
  );
}

function Welcome() {
  const model = chosenModel.value;
  if (models.value && !model) {
    return (
      <section class="welcome">
        <h1>{text.chat.noModel}</h1>
        <button type="button" class="primary" onClick={() => go("models")}>
          {text.chat.getModel}
        </button>
      </section>
    );
  }
  return (
    <section class="welcome">
      <h1>{text.chat.title}</h1>
      <p>{model ? leadOf(model) : text.common.loading}</p>
      <ul class="suggestions">
        {text.chat.suggestions.map((question) => (
          <li key={question}>
            <button type="button" disabled={!model} onClick={() => void ask(question)}>
              {question}
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

function leadOf({ name, remote_host: host }: Model): string {
  return host ? text.chat.leadRemote(name, host) : text.chat.lead(name);
}

/** Keeps the end of the conversation in view, unless somebody has scrolled away from it. */
function useFollowing() {
  const scroller = useRef<HTMLDivElement>(null);
  const end = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  useEffect(() => {
    const element = scroller.current!;
    const note = () => {
      isAtEnd.current = element.scrollHeight - element.scrollTop - element.clientHeight < 80;
    };
    element.addEventListener("scroll", note, { passive: true });
    return () => element.removeEventListener("scroll", note);
  }, []);
  useEffect(() => {
    isAtEnd.current = true;
  }, [current.value.id, current.value.leaf]);
  useEffect(() => {
    if (isAtEnd.current) scroller.current!.scrollTop = scroller.current!.scrollHeight;
  });
  return { scroller, end };
}
