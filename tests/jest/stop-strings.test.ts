// SPDX-License-Identifier: MIT
// Stop strings and the shift of a full context: pure functions, many examples.

import { describe, expect, test } from '@jest/globals';
import { makeRoom } from '#web/worker/context-shift.js';
import { StopStrings } from '#web/worker/stop-strings.js';
import { Random } from './support/random.js';

interface Outcome {
  text: string;
  stop: string | null;
}

/** The text in pieces, as an answer would bring it. */
function run(stops: readonly string[], pieces: readonly string[]): Outcome {
  const stopper = new StopStrings(stops);
  let text = '';
  for (const piece of pieces) {
    const shown = stopper.push(piece);
    text += shown.text;
    if (shown.stop !== null) {
      return { text, stop: shown.stop };
    }
  }
  return { text: text + stopper.flush(), stop: null };
}

/** Letter by letter, looking at everything so far: slow and plainly right. */
function obvious(stops: readonly string[], whole: string): Outcome {
  for (let end = 1; end <= whole.length; ++end) {
    const seen = whole.slice(0, end);
    const hits = stops.filter((stop) => seen.endsWith(stop)).sort((a, b) => b.length - a.length);
    if (hits[0] !== undefined) {
      return { text: seen.slice(0, end - hits[0].length), stop: hits[0] };
    }
  }
  return { text: whole, stop: null };
}

describe('stop strings', () => {
  test('end the text before them, wherever the pieces are cut', () => {
    expect(run(['\nUser:'], ['Hi there.\n', 'Us', 'er: more'])).toEqual({
      text: 'Hi there.',
      stop: '\nUser:',
    });
    expect(run(['abcdef', 'cd'], ['abcdef'])).toEqual({ text: 'ab', stop: 'cd' });
    expect(run(['🦜'], ['a🦜b'])).toEqual({ text: 'a', stop: '🦜' });
    expect(run([], ['a', 'b'])).toEqual({ text: 'ab', stop: null });
  });

  test('hold back only what could become one, and give it back', () => {
    const stopper = new StopStrings(['###', '#!']);
    expect(stopper.push('a#')).toEqual({ text: 'a', stop: null });
    expect(stopper.push('#')).toEqual({ text: '', stop: null });
    expect(stopper.push('x##')).toEqual({ text: '##x', stop: null });
    expect(stopper.flush()).toBe('##');
    expect(stopper.flush()).toBe('');
  });

  test('give what a look at every letter gives, however the text is cut', () => {
    const random = new Random(11);
    let stopped = 0;
    for (let round = 0; round < 3000; ++round) {
      const text = random.string('ab#', random.below(30));
      const stops = Array.from({ length: random.below(4) }, () => random.string('ab#', 1 + random.below(4)));
      const pieces: string[] = [];
      for (let at = 0; at < text.length;) {
        const length = 1 + random.below(5);
        pieces.push(text.slice(at, at + length));
        at += length;
      }
      const expected = obvious(stops, text);
      stopped += expected.stop === null ? 0 : 1;
      expect(run(stops, pieces)).toEqual(expected);
    }
    expect(stopped).toBeGreaterThan(500);
    expect(stopped).toBeLessThan(2900);
  });

  test('never hold back more than the longest stop string', () => {
    const random = new Random(12);
    const stopper = new StopStrings(['aab', 'abab']);
    let [sent, shown] = [0, 0];
    for (let round = 0; round < 500; ++round) {
      const piece = random.string('ac', 1 + random.below(3));
      sent += piece.length;
      shown += stopper.push(piece).text.length;
      expect(sent - shown).toBeLessThanOrEqual(3);
    }
  });
});

describe('making room', () => {
  test('keeps the first and the newest, and leaves room, for every size', () => {
    for (let context = 1; context <= 40; ++context) {
      for (let keep = 0; keep <= 12; ++keep) {
        for (const length of [1, context - 1, context, context + 1, 3 * context].filter((n) => n > 0)) {
          const tokens = Array.from({ length }, (_, index) => index);
          const rest = makeRoom(tokens, context, keep);
          expect(rest.length).toBeGreaterThan(0);
          if (length < context) {
            expect(rest).toEqual(tokens);
            continue;
          }
          expect(rest.length).toBeLessThanOrEqual(Math.max(1, context - 1));
          expect(rest.at(-1)).toBe(length - 1);
          const kept = Math.max(0, Math.min(keep, context - 2));
          expect(rest.slice(0, kept)).toEqual(tokens.slice(0, kept));
          expect(rest.slice(kept)).toEqual(tokens.slice(length - (rest.length - kept)));
        }
      }
    }
  });

  test('drops about half of what may go, so that shifts are rare', () => {
    const tokens = Array.from({ length: 1000 }, (_, index) => index);
    expect(makeRoom(tokens, 1000, 4)).toHaveLength(4 + 498);
  });
});
