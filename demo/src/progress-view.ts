// SPDX-License-Identifier: MIT
// One line and one strip above the composer. While a model arrives: bytes and percent. While a pass runs: the model's
// blocks as cells, those done lit, the one at work highlighted: the idea of the project at a glance.

import type { PassProgress } from 'layerstream';
import { byId, make, setText } from './dom.js';
import { formatBytes, formatCount, formatPart, formatRate, percent, plural } from './format.js';
import type { ModelState, State, Store } from './state.js';

export function setUpProgressView(store: Store, onCancel: () => void): void {
  const root = byId('pass', HTMLElement);
  const label = byId('pass-label', HTMLElement);
  const name = byId('pass-name', HTMLElement);
  const figure = byId('pass-figure', HTMLElement);
  const download = byId('download', HTMLProgressElement);
  const cancel = byId('cancel-load', HTMLButtonElement);
  const showCells = setUpCells();
  cancel.addEventListener('click', onCancel);

  store.subscribe((state) => {
    const { model, pass } = state;
    const loading = model.kind === 'loading';
    const answering = model.kind === 'ready' && isReadingOrWriting(state);
    root.dataset['phase'] = loading ? model.phase : answering ? (pass?.phase ?? 'prefill') : model.kind;
    setText(label, labelOf(state, answering));
    setText(name, loading ? state.choice.source.label : '');
    setText(figure, figureOf(state, answering));
    cancel.hidden = !loading;
    download.hidden = !loading;
    if (loading) showDownload(download, model);
    showCells(model.kind === 'ready' ? model.info.blockCount : 0, answering ? pass : null);
  });
}

function isReadingOrWriting(state: Readonly<State>): boolean {
  const status = state.turns.at(-1)?.status;
  return status === 'reading' || status === 'writing';
}

function labelOf(state: Readonly<State>, answering: boolean): string {
  const { model, pass } = state;
  if (model.kind === 'none') return 'No model is open';
  if (model.kind === 'loading') {
    return { starting: 'Looking for', download: 'Downloading', open: 'Opening' }[model.phase];
  }
  if (!answering) return `${state.choice.source.label} is ready`;
  const doing = pass?.phase === 'decode' ? 'Writing' : 'Reading';
  return pass ? `${doing}, block ${formatCount(pass.block)} of ${formatCount(pass.blockCount)}` : doing;
}

function figureOf(state: Readonly<State>, answering: boolean): string {
  const { model, pass } = state;
  if (model.kind === 'loading') return model.phase === 'starting' ? '' : bytesOf(model);
  if (model.kind !== 'ready') return '';
  if (answering && pass?.phase === 'prefill') {
    return `${formatCount(pass.promptTokensDone)} of ${plural(pass.promptTokens, 'token')}`;
  }
  if (state.decodeRate !== null) return formatRate(state.decodeRate);
  return answering ? '' : plural(model.info.blockCount, 'block');
}

function bytesOf(model: Extract<ModelState, { kind: 'loading' }>): string {
  const { loadedBytes, totalBytes } = model;
  if (totalBytes <= 0) return loadedBytes > 0 ? formatBytes(loadedBytes) : '';
  const share = Math.floor(percent(loadedBytes, totalBytes));
  return `${formatPart(loadedBytes, totalBytes)}, ${share} %`;
}

function showDownload(bar: HTMLProgressElement, model: Extract<ModelState, { kind: 'loading' }>): void {
  // Without a value the bar shows "busy", which is the truth while the size is unknown.
  if (model.totalBytes > 0) bar.value = percent(model.loadedBytes, model.totalBytes);
  else bar.removeAttribute('value');
}

/** Cells for the blocks: done ones lit, the running one marked. Returns the function that shows a pass. */
function setUpCells(): (count: number, pass: PassProgress | null) => void {
  const strip = byId('cells', HTMLElement);
  const cells: HTMLElement[] = [];
  return (count, pass) => {
    strip.hidden = count === 0;
    if (cells.length !== count) {
      cells.length = 0;
      for (let i = 0; i < count; i += 1) cells.push(make('i'));
      strip.replaceChildren(...cells);
      strip.dataset['dense'] = String(count > 48);
    }
    strip.setAttribute(
      'aria-label',
      pass ? `Block ${pass.block} of ${pass.blockCount}` : `The model's ${plural(count, 'block')}, idle`,
    );
    cells.forEach((cell, index) => {
      const state = !pass
        ? 'idle'
        : index < pass.block
          ? 'done'
          : index === pass.block
            ? 'active'
            : 'waiting';
      if (cell.className !== state) cell.className = state;
    });
  };
}
