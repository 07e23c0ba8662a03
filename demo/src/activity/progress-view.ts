// SPDX-License-Identifier: MIT
// One line above the message field: what arrives or runs, and how fast. It is empty while nothing does.

import type { PassProgress } from 'layerstream';
import { isAnswering } from '../state.js';
import type { Arrival, State, Store } from '../state.js';
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
    const { model, arrival } = state;
    const load = model.kind === 'loading' ? model : arrival;
    const isDownload = arrival !== null || (model.kind === 'loading' && model.phase === 'download');
    const answering = model.kind === 'ready' && isAnswering(state);
    root.dataset['phase'] = phaseOf(state, answering);
    setText(label, labelOf(state, answering));
    setText(name, load && !answering ? state.choice.source.label : '');
    setText(figure, load ? bytesOf(load) : figureOf(state, answering));
    setText(speed, load && isDownload ? rateOf(load, downloadRate) : '');
    cancel.hidden = load === null;
    setText(cancel, isDownload ? 'Pause' : 'Cancel');
    download.hidden = load === null;
    if (load) showDownload(download, load);
  });
}

function phaseOf({ model, arrival, pass }: Readonly<State>, answering: boolean): string {
  if (model.kind === 'loading') return model.phase;
  if (answering) return pass?.phase ?? 'prefill';
  return arrival ? 'arriving' : model.kind;
}

function labelOf(state: Readonly<State>, answering: boolean): string {
  const { model, arrival, pass } = state;
  if (model.kind === 'none') return 'No model is open';
  if (model.kind === 'loading') {
    return { starting: 'Looking for', download: 'Downloading', open: 'Opening' }[model.phase];
  }
  if (!answering) return arrival ? 'Downloading' : '';
  const at = pass ? blockOf(pass) : '';
  if (arrival) return at ? `Answering as it arrives, ${at}` : 'Answering as it arrives';
  const doing = pass?.phase === 'decode' ? 'Writing' : 'Reading';
  return at ? `${doing}, ${at}` : doing;
}

/** The block at work; the output projection counts to the last one. */
function blockOf({ block, blockCount }: PassProgress): string {
  return `block ${formatCount(Math.min(block + 1, blockCount))} of ${formatCount(blockCount)}`;
}

function figureOf({ model, pass, decodeRate }: Readonly<State>, answering: boolean): string {
  if (model.kind !== 'ready' || !answering) return '';
  if (pass?.phase === 'prefill') {
    return `${formatCount(pass.promptTokensDone)} of ${plural(pass.promptTokens, 'token')}`;
  }
  return decodeRate === null ? '' : formatRate(decodeRate);
}

function rateOf({ loadedBytes, totalBytes }: Arrival, downloadRate: DownloadRate): string {
  const bytesPerSecond = downloadRate.update(loadedBytes, performance.now());
  if (bytesPerSecond === null) return '';
  const leftWords =
    totalBytes > 0 ? `, ${formatDuration((totalBytes - loadedBytes) / bytesPerSecond)} left` : '';
  return `${formatBytes(bytesPerSecond)}/s${leftWords}`;
}

function bytesOf({ loadedBytes, totalBytes }: Arrival): string {
  if (totalBytes <= 0) return loadedBytes > 0 ? formatBytes(loadedBytes) : '';
  const share = Math.floor(percent(loadedBytes, totalBytes));
  return `${formatPart(loadedBytes, totalBytes)}, ${share} %`;
}

function showDownload(bar: HTMLProgressElement, { loadedBytes, totalBytes }: Arrival): void {
  // Without a value the bar shows "busy", which is the truth while the size is unknown.
  if (totalBytes > 0) bar.value = percent(loadedBytes, totalBytes);
  else bar.removeAttribute('value');
}
