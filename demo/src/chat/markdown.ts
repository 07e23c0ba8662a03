// SPDX-License-Identifier: MIT
// What a model writes, as elements. It is untrusted: Markdown becomes HTML text (marked), HTML in it stays text, and
// what comes out is cut to the tags and attributes listed here (DOMPurify). Nothing in it can load anything: images
// become links, which open only when a person follows them.

import DOMPurify from 'dompurify';
import { Marked } from 'marked';
import type { Tokens } from 'marked';

const TAGS =
  'p br strong em del code pre ul ol li blockquote h2 h3 h4 h5 h6 hr table thead tbody tr th td a'.split(' ');
const ATTRIBUTES = ['href', 'start', 'align', 'data-lang'];

const ESCAPES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
const escapeHtml = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => ESCAPES[character] ?? '');

const marked = new Marked({
  gfm: true,
  breaks: true,
  renderer: {
    html: ({ text }) => escapeHtml(text),
    image: ({ href, text }) => `<a href="${escapeHtml(href)}">${escapeHtml(text || href)}</a>`,
    code: ({ text, lang }) =>
      `<pre data-lang="${escapeHtml(/^\S*/.exec(lang ?? '')?.[0] ?? '')}"><code>${escapeHtml(text)}</code></pre>`,
    checkbox: ({ checked }) => (checked ? '☑ ' : '☐ '),
    // The page's own title is the h1.
    heading({ depth, tokens }: Tokens.Heading) {
      const level = Math.min(6, depth + 1);
      return `<h${level}>${this.parser.parseInline(tokens)}</h${level}>`;
    },
  },
});

/** A top-level piece of a text: a paragraph, a list, a code block. `raw` are its characters. */
export interface Piece {
  raw: string;
  html: string;
}

/** Pieces in order. While a text grows, all but its last pieces stay as they are. */
export function piecesOf(text: string): Piece[] {
  const tokens = marked.lexer(text);
  return tokens
    .filter((token) => token.type !== 'space' && token.type !== 'def')
    .map((token) => ({ raw: token.raw, html: marked.parser([token]).trim() }));
}

/** Safe elements of a piece. */
export function elementsOf(html: string): DocumentFragment {
  const fragment = DOMPurify.sanitize(html, {
    ALLOWED_TAGS: TAGS,
    ALLOWED_ATTR: ATTRIBUTES,
    ADD_URI_SAFE_ATTR: ATTRIBUTES.filter((name) => name !== 'href'), // their values are no addresses
    ALLOW_DATA_ATTR: false,
    ALLOW_ARIA_ATTR: false,
    ALLOWED_URI_REGEXP: /^(?:https?|mailto):/i,
    RETURN_DOM_FRAGMENT: true,
  });
  for (const link of fragment.querySelectorAll('a')) {
    link.target = '_blank';
    link.rel = 'noopener noreferrer nofollow';
    link.title = link.href;
  }
  return fragment;
}
