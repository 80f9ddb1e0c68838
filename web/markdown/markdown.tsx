// Text of models and people as elements. Nothing here parses HTML: tokens become elements of a fixed
// set, so that a text can neither run nor load anything. Blocks that have not changed are not made
// again, which keeps long answers cheap while they stream.

import type { Token, Tokens } from "marked";
import { Component, type ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import { text } from "../strings.ts";
import { CodeBlock } from "./code.tsx";
import { GrowingText, lex, type MathToken } from "./lexer.ts";
import { Maths } from "./maths.tsx";

/** A text in Markdown, which may be growing. */
export function Markdown({ source, isGrowing = false }: { source: string; isGrowing?: boolean }) {
  const growing = useRef<GrowingText | undefined>(undefined);
  if (isGrowing) growing.current ??= new GrowingText();
  const tokens = isGrowing
    ? growing.current!.lex(source)
    : growing.current?.end(source) ?? lex(source);
  return (
    <div class="markdown">
      {tokens.map((token, index) => <Block key={index} token={token} />)}
    </div>
  );
}

/** A block, made anew only where its source is another. */
class Block extends Component<{ token: Token }> {
  override shouldComponentUpdate({ token }: { token: Token }): boolean {
    return token.raw !== this.props.token.raw || token.type !== this.props.token.type;
  }

  override render() {
    return renderBlock(this.props.token);
  }
}

function renderBlock(token: Token): ComponentChildren {
  switch (token.type) {
    case "heading":
      return <Heading {...token as Tokens.Heading} />;
    case "paragraph":
      return <p>{inlines(token)}</p>;
    case "code":
      return (
        <CodeBlock
          code={(token as Tokens.Code).text}
          language={(token as Tokens.Code).lang}
        />
      );
    case "blockquote":
      return <blockquote>{blocks(token)}</blockquote>;
    case "list":
      return <List {...token as Tokens.List} />;
    case "table":
      return <Table {...token as Tokens.Table} />;
    case "hr":
      return <hr />;
    case "math":
      return <Maths tex={(token as MathToken).tex} isBlock />;
    case "text":
      return "tokens" in token && token.tokens
        ? <>{inlines(token)}</>
        : (token as Tokens.Text).text;
    case "space":
    case "def":
      return null;
    default:
      return <p>{token.raw}</p>;
  }
}

function blocks({ tokens = [] }: { tokens?: Token[] }): ComponentChildren {
  return tokens.map((token, index) => <Block key={index} token={token} />);
}

/** Headings of an answer stand below those of the page. */
function Heading({ depth, tokens }: Tokens.Heading) {
  const Tag = `h${Math.min(depth + 2, 6)}` as "h3";
  return <Tag class={`heading-${depth}`}>{inlines({ tokens })}</Tag>;
}

function List({ ordered, start, items }: Tokens.List) {
  const content = items.map((item, index) => (
    <li key={index} class={item.task ? "task" : undefined}>
      {item.task && (
        <input
          type="checkbox"
          checked={item.checked ?? false}
          disabled
          aria-label={item.checked ? text.chat.taskDone : text.chat.taskOpen}
        />
      )}
      {item.tokens.map((token, at) => (
        token.type === "checkbox" ? null : <Block key={at} token={token} />
      ))}
    </li>
  ));
  return ordered ? <ol start={Number(start) || 1}>{content}</ol> : <ul>{content}</ul>;
}

function Table({ header, align, rows }: Tokens.Table) {
  const cell = (index: number) => `align-${align[index] ?? "left"}`;
  return (
    <div class="table-frame" tabIndex={0} role="group" aria-label={text.chat.table}>
      <table>
        <thead>
          <tr>
            {header.map((one, index) => (
              <th key={index} scope="col" class={cell(index)}>{inlines(one)}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, at) => (
            <tr key={at}>
              {row.map((one, index) => <td key={index} class={cell(index)}>{inlines(one)}</td>)}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function inlines({ tokens = [] }: { tokens?: Token[] | undefined }): ComponentChildren {
  return tokens.map((token, index) => <Inline key={index} token={token} />);
}

function Inline({ token }: { token: Token }): ComponentChildren {
  switch (token.type) {
    case "strong":
      return <strong>{inlines(token as Tokens.Strong)}</strong>;
    case "em":
      return <em>{inlines(token as Tokens.Em)}</em>;
    case "del":
      return <del>{inlines(token as Tokens.Del)}</del>;
    case "codespan":
      return <code>{(token as Tokens.Codespan).text}</code>;
    case "br":
      return <br />;
    case "link":
      return <Link {...token as Tokens.Link} />;
    case "image":
      return <ImageMention {...token as Tokens.Image} />;
    case "math":
      return <Maths tex={(token as MathToken).tex} isBlock={false} />;
    case "escape":
      return (token as Tokens.Escape).text;
    case "text":
      return "tokens" in token && token.tokens
        ? <>{inlines(token as Tokens.Text)}</>
        : unescaped((token as Tokens.Text).text);
    default:
      return token.raw;
  }
}

/** marked leaves entities as they are written. */
function unescaped(source: string): string {
  if (!source.includes("&")) return source;
  const names: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', nbsp: "\u00a0" };
  return source.replaceAll(/&(#?\w+);/g, (whole, name: string) => {
    const code = /^#x[\da-f]+$/i.test(name)
      ? parseInt(name.slice(2), 16)
      : /^#\d+$/.test(name)
      ? Number(name.slice(1))
      : undefined;
    if (code === undefined) return names[name] ?? whole;
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}

/** Only addresses of pages and of mail lead anywhere, and only when somebody clicks them. */
function Link({ href, tokens, text: label }: Tokens.Link) {
  if (!/^(https?:\/\/|mailto:)/i.test(href)) {
    return <span class="dead-link" title={href}>{tokens ? inlines({ tokens }) : label}</span>;
  }
  return (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow" title={href}>
      {inlines({ tokens })}
    </a>
  );
}

/** An image of another place is not loaded: what it is and where is said instead. */
function ImageMention({ href, text: label }: Tokens.Image) {
  return <span class="image-mention" title={href}>{text.chat.imageNotLoaded(label || href)}</span>;
}
