// SPDX-License-Identifier: MIT
// What a model writes is untrusted: whatever it is, and however it is cut while it streams, it becomes harmless elements
// and asks for nothing. The page's own code is tested, bundled alone, so that thousands of texts are quick.

import { execFileSync } from 'node:child_process';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newProfile, startVisit } from './support/browser.js';
import type { Profile, Visit } from './support/browser.js';
import { inRepository } from './support/repository.js';
import { startServer } from './support/server.js';
import type { DemoServer } from './support/server.js';

const HOSTILE = [
  '<script>window.hacked = 1</script>',
  '<img src=/leak.png onerror="window.hacked = 1">',
  '![picture](/leak.png)',
  '![x](https://example.org/leak.png "t")',
  '[click](javascript:window.hacked=1)',
  '[click](JaVaScRiPt&colon;window.hacked=1)',
  '[click](data:text/html,<script>window.hacked=1</script>)',
  '[ok](https://example.org/"onmouseover="window.hacked=1)',
  '<a href="javascript:window.hacked=1">a</a>',
  '<svg onload="window.hacked=1"><style>@import "/leak.css"</style></svg>',
  '<iframe src="/leak.html"></iframe><object data="/leak"></object><embed src="/leak">',
  '<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=window.hacked=1&gt;">',
  '<form action="/leak"><input name=innerHTML><button>go</button></form>',
  '<base href="https://example.org/"><meta http-equiv=refresh content="0;url=/leak">',
  '<div style="background:url(/leak.png)" id=announcer class=turn>x</div>',
  '```"><img src=x onerror=window.hacked=1>\ncode </code></pre><script>window.hacked=1</script>\n```',
  '`<img src=/leak.png>`',
  '| <img src=/leak.png> | b |\n| --- | --- |\n| <script>window.hacked=1</script> | [x](vbscript:x) |',
  '# <video src=/leak.mp4 autoplay>',
  '- [ ] <details open ontoggle=window.hacked=1>',
  '[ref]: javascript:window.hacked=1\n\n[ref]',
  '<https://example.org/leak> <javascript:window.hacked=1>',
  '**bold** _<b onclick=window.hacked=1>x</b>_',
];

const TAGS =
  'A BLOCKQUOTE BR BUTTON CODE DEL DIV EM H2 H3 H4 H5 H6 HR LI OL P PATH PRE SPAN STRONG SVG TABLE TBODY TD TH THEAD TR UL';

let server: DemoServer;
let profile: Profile;
let visit: Visit;

beforeAll(async () => {
  const entry = inRepository('demo', 'src', 'chat', 'markdown-view.ts');
  const esbuild = inRepository('node_modules', '.bin', 'esbuild');
  const code = execFileSync(esbuild, [entry, '--bundle', '--format=esm'], { encoding: 'utf8' });
  server = await startServer();
  server.routes.set('/bare.html', (_, response) => {
    response.setHeader('Content-Type', 'text/html');
    response.end('<!doctype html><title>bare</title><link rel="icon" href="data:,">');
  });
  server.routes.set('/markdown.js', (_, response) => {
    response.setHeader('Content-Type', 'text/javascript');
    response.end(code);
  });
  profile = newProfile();
  visit = await startVisit(profile);
  await visit.page.goto(new URL('bare.html', server.url).href);
}, 60_000);

afterAll(async () => {
  await visit.close();
  await server.close();
  profile.remove();
});

/** Shows every text, growing by `step` characters, and tells what is wrong with what is there on the way. */
function show(texts: string[], step: number): Promise<{ wrong: string[]; pieces: number; hacked: boolean }> {
  return visit.page.evaluate(
    async ([all, by, tags]) => {
      const file = new URL('/markdown.js', location.href).href;
      const { MarkdownView } = (await import(file)) as {
        MarkdownView: new () => { element: HTMLElement; update(text: string): void };
      };
      const allowed = new Set(tags.split(' '));
      const wrong = new Set<string>();
      let pieces = 0;
      const look = (root: HTMLElement): void => {
        for (const element of root.querySelectorAll('*')) {
          if (!allowed.has(element.tagName.toUpperCase())) wrong.add(element.outerHTML.slice(0, 80));
          for (const { name, value } of element.attributes) {
            const isLink = name === 'href' && !/^(https?|mailto):/i.test(value);
            if (/^on/i.test(name) || ['src', 'style', 'id', 'name'].includes(name) || isLink) {
              wrong.add(`${element.tagName} ${name}=${value}`);
            }
          }
        }
      };
      for (const text of all) {
        const view = new MarkdownView();
        document.body.replaceChildren(view.element);
        for (let end = by; end < text.length + by; end += by) {
          view.update(text.slice(0, end));
          look(view.element);
        }
        const grown = view.element.innerHTML;
        const whole = new MarkdownView();
        whole.update(text);
        if (whole.element.innerHTML !== grown) wrong.add(`grown differs from whole: ${text.slice(0, 60)}`);
        pieces += view.element.childElementCount;
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
      return { wrong: [...wrong], pieces, hacked: 'hacked' in window };
    },
    [texts, step, TAGS] as const,
  );
}

test('every hostile text is harmless at every character of its way in', async () => {
  const seen = server.requests.length;
  const { wrong, pieces, hacked } = await show(HOSTILE, 1);
  expect(wrong).toEqual([]);
  expect(hacked).toBe(false);
  expect(pieces).toBeGreaterThanOrEqual(HOSTILE.length - 1); // shown, not swallowed: only a definition is not
  expect(
    server.requests
      .slice(seen)
      .map(({ url }) => url)
      .filter((url) => url.includes('leak')),
  ).toEqual([]);
});

test('so is every mixture of them', async () => {
  let state = 7;
  const next = (below: number): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0; // the same texts every time
    return Math.floor((state / 2 ** 32) * below);
  };
  const glue = ['', '\n', '\n\n', ' ', '> ', '\n- ', '\n```\n', '**', '<', '|', '\n    '];
  const texts = Array.from({ length: 400 }, () =>
    Array.from({ length: 2 + next(4) }, () => {
      const text = HOSTILE[next(HOSTILE.length)] ?? '';
      const from = next(4) === 0 ? next(text.length) : 0;
      return text.slice(from) + (glue[next(glue.length)] ?? '');
    }).join(''),
  );
  const { wrong, hacked } = await show(texts, 29);
  expect(wrong).toEqual([]);
  expect(hacked).toBe(false);
});

test('Markdown becomes what it means', async () => {
  const html = await visit.page.evaluate(async () => {
    const file = new URL('/markdown.js', location.href).href;
    const { MarkdownView } = (await import(file)) as {
      MarkdownView: new () => { element: HTMLElement; update(text: string): void };
    };
    const view = new MarkdownView();
    view.update(
      '# T\n\na *b* **c** `d`\n\n- [x] e\n\n```js\nf < 1\n```\n\n| g |\n| --- |\n| h |\n\n[i](https://j.example/)',
    );
    const texts = (selector: string): string[] =>
      [...view.element.querySelectorAll(selector)].map((each) => each.textContent ?? '');
    const link = view.element.querySelector('a');
    return [
      texts('h2'),
      texts('em'),
      texts('strong'),
      texts('p code'),
      texts('li'),
      texts('pre'),
      texts('.code-bar span:first-child'),
      texts('td'),
      [link?.rel, link?.target, link?.href],
    ];
  });
  expect(html).toEqual([
    ['T'],
    ['b'],
    ['c'],
    ['d'],
    ['☑ e'],
    ['f < 1'],
    ['js'],
    ['h'],
    ['noopener noreferrer nofollow', '_blank', 'https://j.example/'],
  ]);
});
