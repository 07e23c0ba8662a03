// SPDX-License-Identifier: MIT
// One line above the message field: what arrives or runs, and how fast. It is empty while nothing does.

import { isAnswering } from '../state.js';
import type { ModelState, State, Store } from '../state.js';
import { byId, setText } from '../ui/dom.js';
import { DownloadRate } from '../models/download-rate.js';
import {
  formatBytes,
  formatCount,
  formatDuration,
  formatPart,
  formatRate,
  percent,
  plural,
} from '../ui/format.js';

export function setUpProgressView(store: Store, onCancel: () => void): void {
  const root = byId('pass', HTMLElement);
  const label = byId('pass-label', HTMLElement);
  const name = byId('pass-name', HTMLElement);
  const figure = byId('pass-figure', HTMLElement);
  const download = byId('download', HTMLProgressElement);
  const speed = byId('pass-rate', HTMLElement);
  const downloadRate = new DownloadRate();
  const cancel = byId('cancel-load', HTMLButtonElement);
  cancel.addEventListener('click', onCancel);

  store.subscribe((state) => {
    const { model, pass } = state;
    const loading = model.kind === 'loading';
    const answering = model.kind === 'ready' && isAnswering(state);
    root.dataset['phase'] = loading ? model.phase : answering ? (pass?.phase ?? 'prefill') : model.kind;
    setText(label, labelOf(state, answering));
    setText(name, loading ? state.choice.source.label : '');
    setText(figure, figureOf(state, answering));
    setText(speed, loading ? rateOf(model, downloadRate) : '');
    cancel.hidden = !loading;
    setText(cancel, loading && model.phase === 'download' ? 'Pause' : 'Cancel');
    download.hidden = !loading;
    if (loading) showDownload(download, model);
  });
}

function labelOf(state: Readonly<State>, answering: boolean): string {
  const { model, pass } = state;
  if (model.kind === 'none') return 'No model is open';
  if (model.kind === 'loading') {
    return { starting: 'Looking for', download: 'Downloading', open: 'Opening' }[model.phase];
  }
  if (!answering) return '';
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
  return answering && state.decodeRate !== null ? formatRate(state.decodeRate) : '';
}

function rateOf(model: Extract<ModelState, { kind: 'loading' }>, downloadRate: DownloadRate): string {
  if (model.phase !== 'download') return '';
  const bytesPerSecond = downloadRate.update(model.loadedBytes, performance.now());
  if (bytesPerSecond === null) return '';
  const left = (model.totalBytes - model.loadedBytes) / bytesPerSecond;
  const leftWords = model.totalBytes > 0 ? `, ${formatDuration(left)} left` : '';
  return `${formatBytes(bytesPerSecond)}/s${leftWords}`;
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
