// Messages of a conversation: what was said, thought and called, what it took, and what can be done
// with it.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { writeExact } from "../api/exact_json.ts";
import type { ToolCall } from "../api/types.ts";
import { Code } from "../markdown/code.tsx";
import { Markdown } from "../markdown/markdown.tsx";
import { go } from "../shell/router.ts";
import { text } from "../strings.ts";
import { CopyButton, Icon, IconButton, Notice } from "../ui/controls.tsx";
import { formatCount, formatSeconds } from "../ui/format.ts";
import { answerAgain, ask, giveResults, type LiveAnswer } from "./answering.ts";
import { current, showBranch } from "./store.ts";
import { type AnswerFacts, type Attachment, type MessageNode, siblingsOf } from "./tree.ts";

/** A question of the person. */
export function Question({ node }: { node: MessageNode }) {
  const [isEdited, setEdited] = useState(false);
  return (
    <article class="message question" aria-label={text.chat.you}>
      {isEdited ? <Editor node={node} close={() => setEdited(false)} /> : (
        <div class="bubble">
          <Attachments list={node.attachments ?? []} />
          {node.content && <p class="plain">{node.content}</p>}
        </div>
      )}
      {!isEdited && (
        <div class="message-actions">
          <Branches node={node} />
          <CopyButton value={() => node.content} />
          <IconButton
            icon="edit"
            label={text.chat.edit}
            class="edit-button"
            onClick={() => setEdited(true)}
          />
        </div>
      )}
    </article>
  );
}

function Editor({ node, close }: { node: MessageNode; close: () => void }) {
  const [value, setValue] = useState(node.content);
  const submit = (event: Event) => {
    event.preventDefault();
    close();
    void ask(value, node.attachments, node.parent);
  };
  return (
    <form class="editor" onSubmit={submit}>
      <textarea
        aria-label={text.chat.edit}
        value={value}
        rows={Math.min(12, value.split("\n").length + 1)}
        onInput={(event) => setValue(event.currentTarget.value)}
        onKeyDown={(event) => event.key === "Escape" && close()}
        ref={(element) => element?.focus()}
      />
      <div class="row end">
        <button type="button" class="quiet" onClick={close}>{text.common.cancel}</button>
        <button type="submit" class="primary">{text.chat.send}</button>
      </div>
    </form>
  );
}

/**
 * An answer and what stands below it. The elements of one that grows stay when it is whole, so that a
 * long one is not made again at its end.
 */
export function Answer({ answer, isGrowing = false, isLast = false, children }: {
  answer: Pick<MessageNode, "content" | "thinking" | "toolCalls">;
  isGrowing?: boolean;
  isLast?: boolean;
  children: ComponentChildren;
}) {
  const { content, thinking, toolCalls = [] } = answer;
  return (
    <article
      class={`message answer ${isGrowing ? "growing" : ""}`}
      aria-label={text.chat.assistant}
      aria-busy={isGrowing}
    >
      {thinking && <Thinking source={thinking} isOver={!isGrowing || content !== ""} />}
      {content && <Markdown source={content} isGrowing={isGrowing} />}
      {toolCalls.length > 0 && <Calls calls={toolCalls} isOpen={isLast} />}
      {children}
    </article>
  );
}

/** Below an answer that is whole: how it ended, what can be done with it, and what it took. */
export function AnswerEnd({ node }: { node: MessageNode }) {
  const { content, error, facts } = node;
  return (
    <>
      {error && <Notice kind="error">{error}</Notice>}
      {!error && facts?.reason === "stopped" && <p class="aside">{text.chat.stopped}</p>}
      {facts?.reason === "length" && <p class="aside">{text.chat.cut}</p>}
      <div class="message-actions">
        <Branches node={node} />
        <CopyButton value={() => content} />
        <IconButton icon="again" label={text.chat.again} onClick={() => void answerAgain(node)} />
        <IconButton
          icon="tokens"
          label={text.chat.tokens}
          onClick={() => go("tokens", `${current.value.id}/${node.id}`)}
        />
        {facts && <Facts facts={facts} />}
      </div>
    </>
  );
}

/** Below an answer that is being written: what it waits for. */
export function Waiting({ answer: { phase, ahead } }: { answer: LiveAnswer }) {
  const waiting = {
    loading: text.chat.loadingModel,
    queued: text.chat.queued(ahead),
    reading: text.chat.waiting,
    writing: "",
  }[phase];
  if (!waiting) return null;
  return (
    <p class="waiting">
      <span class="pulse" aria-hidden="true" />
      {waiting}
    </p>
  );
}

function Thinking({ source, isOver }: { source: string; isOver: boolean }) {
  return (
    <details class="thinking">
      <summary>{isOver ? text.chat.thought : text.chat.thinking}</summary>
      <Markdown source={source} />
    </details>
  );
}

/** What a tool gave. */
export function ToolResult({ node }: { node: MessageNode }) {
  return (
    <article class="message tool" aria-label={text.chat.resultOf(node.toolName ?? "")}>
      <details>
        <summary>{text.chat.resultOf(node.toolName ?? "")}</summary>
        <pre tabIndex={0}>{node.content}</pre>
      </details>
    </article>
  );
}

/** The branches beside a message, where there are any. */
function Branches({ node }: { node: MessageNode }) {
  const siblings = siblingsOf(current.value, node);
  if (siblings.length < 2) return null;
  const at = siblings.findIndex(({ id }) => id === node.id);
  const show = (index: number) => siblings[index] && showBranch(siblings[index].id);
  return (
    <span class="branches">
      <IconButton
        icon="left"
        label={text.chat.before}
        disabled={at === 0}
        onClick={() => show(at - 1)}
      />
      <span>{text.chat.branch(at + 1, siblings.length)}</span>
      <IconButton
        icon="right"
        label={text.chat.after}
        disabled={at === siblings.length - 1}
        onClick={() => show(at + 1)}
      />
    </span>
  );
}

/** What goes with a message. */
export function Attachments({ list, remove }: {
  list: readonly Attachment[];
  remove?: (index: number) => void;
}) {
  if (list.length === 0) return null;
  return (
    <ul class="attachments">
      {list.map((one, index) => (
        <li key={index}>
          {one.kind === "image"
            ? <img src={addressOf(one)} alt={text.chat.image(one.name)} />
            : one.kind === "sound"
            ? <audio controls src={addressOf(one)} aria-label={text.speech.sound(one.name)} />
            : (
              <span class="file">
                <Icon name="docs" />
                {one.name}
              </span>
            )}
          {remove && (
            <IconButton
              icon="close"
              label={text.chat.remove(one.name)}
              onClick={() => remove(index)}
            />
          )}
        </li>
      ))}
    </ul>
  );
}

function addressOf({ type, content }: Attachment): string {
  return `data:${type};base64,${content}`;
}

/** What an answer took, in a line. */
function Facts({ facts }: { facts: AnswerFacts }) {
  const { tokensPerSecond, firstToken, promptTokens, cachedTokens, tokens, drafted } = facts;
  const parts = [
    tokensPerSecond !== undefined && text.facts.speed(tokensPerSecond.toFixed(1)),
    firstToken !== undefined && text.facts.first(formatSeconds(firstToken)),
    promptTokens > 0 &&
    (cachedTokens > 0
      ? text.facts.prompt(formatCount(promptTokens), formatCount(cachedTokens))
      : text.facts.promptPlain(formatCount(promptTokens))),
    tokens > 0 && text.facts.written(formatCount(tokens)),
    drafted > 0 && text.facts.drafts(facts.accepted, drafted),
    facts.load > 0.05 && text.facts.load(formatSeconds(facts.load)),
  ].filter(Boolean);
  return <span class="facts" title={facts.model}>{parts.join(" · ")}</span>;
}

/** Calls of an answer. */
function Calls({ calls, isOpen }: { calls: readonly ToolCall[]; isOpen: boolean }) {
  const [results, setResults] = useState<string[]>([]);
  const submit = (event: Event) => {
    event.preventDefault();
    void giveResults(calls.map((call, index) => [call, results[index] ?? ""]));
  };
  return (
    <form class="calls" onSubmit={submit}>
      {calls.map((call, index) => (
        <section key={index} class="call">
          <h3>
            {text.chat.call} <code>{call.function.name}</code>
          </h3>
          <pre tabIndex={0}>
            <Code code={writeExact(call.function.arguments, 2)} language="json" />
          </pre>
          {isOpen && (
            <label class="field">
              <span class="field-label">{text.chat.result}</span>
              <textarea
                rows={2}
                value={results[index] ?? ""}
                onInput={(event) =>
                  setResults(Object.assign([...results], { [index]: event.currentTarget.value }))}
              />
            </label>
          )}
        </section>
      ))}
      {isOpen && <button type="submit" class="primary">{text.chat.sendResult}</button>}
    </form>
  );
}
