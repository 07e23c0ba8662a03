// SPDX-License-Identifier: MIT
// The page's icons: strokes on a 20 by 20 grid, drawn in the colour of the text around them.

const PATHS = {
  check: 'M4.5 10.5 8.5 14.5 15.5 6',
  close: 'M5 5l10 10M15 5 5 15',
  copy: 'M7.5 7.5h8v8h-8zM5 12.5H4.5v-8h8V5',
  dots: 'M5 10h.01M10 10h.01M15 10h.01',
  download: 'M10 3.5v9M6 9l4 4 4-4M4 16.5h12',
  pause: 'M7.5 5v10M12.5 5v10',
  pencil: 'M4 16l.8-3.4L13.2 4.2l2.6 2.6L7.4 15.2z',
  play: 'M7 4.5v11L15.5 10z',
  refresh: 'M15.5 8A6 6 0 1 0 16 11M16 4v4h-4',
  trash: 'M4 6h12M8 6V4h4v2M5.5 6l.7 10h7.6l.7-10',
  upload: 'M10 13V4M6 7.5l4-4 4 4M4 16.5h12',
} as const;

export type IconName = keyof typeof PATHS;

export function icon(name: IconName): SVGSVGElement {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  svg.setAttribute('viewBox', '0 0 20 20');
  svg.setAttribute('aria-hidden', 'true');
  const path = document.createElementNS('http://www.w3.org/2000/svg', 'path');
  path.setAttribute('d', PATHS[name]);
  svg.append(path);
  return svg;
}
