// SPDX-License-Identifier: MIT
// A line over time, small: its newest value in words, its highest as the scale. Drawn as SVG, so that it follows the
// theme by itself.

import { make, setText } from '../ui/dom.js';

const WIDTH = 240;
const HEIGHT = 44;
/** Points across the chart. */
const POINTS = 120;

export interface Chart {
  /** Hidden while there is nothing to draw. */
  element: HTMLElement;
  update(values: readonly number[]): void;
}

export function makeChart(title: string, format: (value: number) => string): Chart {
  const now = make('span', { class: 'chart-now', text: '–' });
  const most = make('span', { class: 'chart-most' });
  const line = makeSvg('polyline', { class: 'chart-line' });
  const area = makeSvg('polygon', { class: 'chart-area' });
  const attributes = {
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
    preserveAspectRatio: 'none',
    'aria-hidden': 'true',
  };
  const svg = makeSvg('svg', { class: 'chart', ...attributes });
  svg.append(area, line);
  const element = make(
    'figure',
    { class: 'chart-figure' },
    make('figcaption', {}, make('span', { text: title }), now),
    svg,
    most,
  );
  element.hidden = true;
  return {
    element,
    update(values) {
      element.hidden = values.length === 0;
      const highest = Math.max(0, ...values);
      const points = pointsOf(values, highest);
      line.setAttribute('points', points.join(' '));
      const [first, last] = [points[0], points.at(-1)];
      const corners = [`${last?.split(',')[0] ?? 0},${HEIGHT}`, `${first?.split(',')[0] ?? 0},${HEIGHT}`];
      area.setAttribute('points', [...points, ...corners].join(' '));
      const newest = values.at(-1);
      setText(now, newest === undefined ? '–' : format(newest));
      setText(most, highest > 0 ? `highest ${format(highest)}` : '');
    },
  };
}

/** Newest at the right border; a pixel of room for the stroke above and below. */
function pointsOf(values: readonly number[], highest: number): string[] {
  const step = WIDTH / (POINTS - 1);
  return values.map((value, index) => {
    const x = WIDTH - (values.length - 1 - index) * step;
    const y = highest > 0 ? HEIGHT - 1 - (value / highest) * (HEIGHT - 2) : HEIGHT - 1;
    return `${x.toFixed(1)},${y.toFixed(1)}`;
  });
}

function makeSvg<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Record<string, string>,
): SVGElementTagNameMap[K] {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}
