// SPDX-License-Identifier: MIT
// The conversation as a list. What a model writes is untrusted: it goes in as a text node, white space kept. Text is
// appended, not replaced, so a selection survives while the answer grows. Screen readers hear an answer once, whole,
// through the announcer, instead of token by token.

import { byId, make, makeButton, setText } from './dom.js';
import { formatRate, plural, rate } from './format.js';
import { answerProblem } from './problem-card.js';
import type { ProblemActions } from './problem-card.js';
import type { State, Store, Turn } from './state.js';

interface TurnElements {
  item: HTMLLIElement;
  text: Text;
  foot: HTMLElement;
  shown: Turn | null;
}

export function setUpChatView(store: Store, actions: ProblemActions): void {
  const log = byId('log', HTMLOListElement);
  const announcer = byId('announcer', HTMLElement);
  const welcome = byId('welcome', HTMLElement);
  const scroll = setUpScrolling(store);
  const elements = new Map<number, TurnElements>();

  store.subscribe((state) => {
    welcome.hidden = state.turns.length > 0;
    const present = new Set(state.turns.map((turn) => turn.id));
    for (const [id, { item }] of elements) {
      if (present.has(id)) continue;
      item.remove();
      elements.delete(id);
    }
    let isNew = false;
    for (const turn of state.turns) {
      let entry = elements.get(turn.id);
      if (!entry) {
        entry = makeTurn(turn);
        elements.set(turn.id, entry);
        log.append(entry.item);
        isNew = true;
      }
      if (entry.shown !== turn) updateTurn(entry, turn, state, actions, announcer);
    }
    if (isNew) scroll.toEnd();
    else scroll.follow();
  });
}

function makeTurn(turn: Turn): TurnElements {
  const text = document.createTextNode('');
  const who = make('span', { class: 'visually-hidden', text: turn.role === 'user' ? 'You: ' : 'Answer: ' });
  const body = make('div', { class: 'body' }, text);
  const foot = make('div', { class: 'foot' });
  const item = make('li', { class: `turn ${turn.role}` }, who, body);
  if (turn.role === 'assistant') item.append(foot);
  return { item, text, foot, shown: null };
}

function updateTurn(
  entry: TurnElements,
  turn: Turn,
  state: Readonly<State>,
  actions: ProblemActions,
  announcer: HTMLElement,
): void {
  const before = entry.shown;
  entry.shown = turn;
  entry.item.dataset['status'] = turn.status;
  entry.item.setAttribute('aria-busy', String(turn.status === 'reading' || turn.status === 'writing'));
  // Templates may leave a line break before the first word.
  const visible = turn.text.trimStart();
  if (visible.startsWith(entry.text.data)) entry.text.appendData(visible.slice(entry.text.data.length));
  else entry.text.data = visible;
  if (turn.role === 'user' || before?.status === turn.status) return;
  if (turn.status === 'reading') setText(announcer, 'Answering.');
  if (turn.status !== 'done' && turn.status !== 'failed') return;
  entry.foot.replaceChildren(...footOf(turn, state));
  if (turn.problem) entry.item.append(answerProblem(turn.problem, actions));
  setText(announcer, turn.problem ? turn.problem.sentence : visible);
}

function footOf(turn: Turn, state: Readonly<State>): Node[] {
  const parts: Node[] = [];
  if (turn.text.trim() !== '') parts.push(makeCopyButton(() => turn.text.trim()));
  const { stats } = turn;
  const facts: string[] = [];
  if (stats) facts.push(plural(stats.completionTokens, 'token'));
  const speed = stats ? rate(stats.completionTokens, stats.decodeMs) : null;
  if (speed !== null) facts.push(formatRate(speed));
  const ending = endingOf(turn, state);
  if (ending !== '') facts.push(ending);
  if (facts.length > 0) parts.push(make('span', { class: 'facts', text: facts.join(' · ') }));
  return parts;
}

function endingOf(turn: Turn, state: Readonly<State>): string {
  if (turn.finish === 'abort') return 'stopped';
  if (turn.finish === 'length') return `ended at the limit of ${plural(state.settings.maxTokens, 'token')}`;
  if (turn.finish === 'context') return 'the context is full: start a new chat to go on';
  return '';
}

function makeCopyButton(text: () => string): HTMLButtonElement {
  const button = makeButton('Copy', 'link copy', () => {
    copyText(text()).then(
      () => flash('Copied'),
      () => flash('Could not copy'),
    );
  });
  const flash = (label: string): void => {
    setText(button, label);
    setTimeout(() => setText(button, 'Copy'), 1600);
  };
  return button;
}

async function copyText(text: string): Promise<void> {
  // Pages on plain http (other than localhost) have no clipboard object.
  const clipboard: Clipboard | undefined = navigator.clipboard;
  if (clipboard) return clipboard.writeText(text);
  const area = make('textarea', { class: 'visually-hidden', text });
  document.body.append(area);
  area.select();
  const copied = document.execCommand('copy');
  area.remove();
  if (!copied) throw new Error('the browser refused');
}

/** Follows the answer while the reader is at the end of it, and stays put when they have scrolled back. */
function setUpScrolling(store: Store): { follow(): void; toEnd(): void } {
  const scroller = byId('scroller', HTMLElement);
  const jump = byId('jump', HTMLButtonElement);
  let following = true;
  const update = (): void => {
    following = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < 48;
    jump.hidden = following || store.get().turns.length === 0;
  };
  const toEnd = (): void => {
    scroller.scrollTop = scroller.scrollHeight;
    update();
  };
  const follow = (): void => {
    if (following && store.get().turns.length > 0) toEnd();
    else update();
  };
  scroller.addEventListener('scroll', update, { passive: true });
  jump.addEventListener('click', toEnd);
  // The window, a banner or a growing message field changes how much is visible.
  new ResizeObserver(follow).observe(scroller);
  return { follow, toEnd };
}
