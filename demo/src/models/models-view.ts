// SPDX-License-Identifier: MIT
// The page of models: what can be opened at once, what is worth downloading, and adding one's own.

import type { Source, State, Store } from '../state.js';
import { byId, make, makeButton, setText } from '../ui/dom.js';
import { formatBytes, percent } from '../ui/format.js';
import { makeAddView } from './add-view.js';
import { OFFERS } from './catalogue.js';
import type { Offer } from './catalogue.js';
import { readDisk } from './disk.js';
import type { Disk } from './disk.js';
import { fitOf } from './fit.js';
import { modelRows } from './model-rows.js';
import { makePlanView } from './plan-view.js';

export interface ModelActions {
  choose(source: Source): void;
  remove(url: string): void;
}

export function setUpModelsView(store: Store, actions: ModelActions): void {
  const list = make('ul', { class: 'model-list', attributes: { 'aria-label': 'Models on this device' } });
  const offers = make('ul', { class: 'offers', attributes: { 'aria-label': 'Models to download' } });
  const disk = makeDiskView();
  const column = make(
    'div',
    { class: 'column' },
    make('h2', { text: 'Models', class: 'page-title' }),
    make('section', {}, make('h3', { text: 'On this device' }), list, disk.element),
    make('section', {}, make('h3', { text: 'Worth a try' }), offers),
    make('section', {}, make('h3', { text: 'Your own' }), makeAddView(store, actions)),
  );
  byId('models-page', HTMLElement).append(column);

  let shown: Pick<State, 'model' | 'choice' | 'stored' | 'arrival'> | null = null;
  store.subscribe((state) => {
    const isSame =
      shown?.choice === state.choice &&
      shown.stored === state.stored &&
      shown.model.kind === state.model.kind &&
      (shown.arrival === null) === (state.arrival === null);
    if (isSame) return;
    shown = state;
    list.replaceChildren(...modelRows(state, actions));
    void readDisk().then((found) => {
      disk.update(found);
      const here = new Set(state.stored.map(({ url }) => url));
      const others = OFFERS.filter(({ url }) => !here.has(url));
      offers.replaceChildren(...others.map((offer) => makeOffer(offer, found, actions)));
    });
  });
}

function makeOffer(offer: Offer, disk: Disk | null, actions: ModelActions): HTMLLIElement {
  const fit = fitOf(offer.bytes, disk?.freeBytes ?? null);
  const get = makeButton('Download', 'small', () => {
    actions.choose({ kind: 'url', url: offer.url, label: offer.name });
  });
  get.setAttribute('aria-label', `Download ${offer.name}, ${formatBytes(offer.bytes)}`);
  get.disabled = fit.kind === 'too-large';
  return make(
    'li',
    { class: 'offer' },
    make(
      'div',
      { class: 'offer-words' },
      make('p', { class: 'offer-name', text: offer.name }),
      make('p', { class: 'note', text: offer.note }),
      make(
        'p',
        { class: 'note' },
        `${formatBytes(offer.bytes)} · ${offer.licence} licence · `,
        make('span', { class: `fit ${fit.kind}`, text: fit.words }),
      ),
      makePlanView(offer.url, offer.name),
    ),
    get,
  );
}

function makeDiskView(): { element: HTMLElement; update(disk: Disk | null): void } {
  const fill = make('span', { class: 'bar-fill' });
  const caption = make('p', { class: 'note' });
  const bar = make('div', { class: 'bar', attributes: { 'aria-hidden': 'true' } }, fill);
  const element = make('div', { class: 'disk', id: 'disk' }, bar, caption);
  element.hidden = true;
  return {
    element,
    update(disk) {
      element.hidden = disk === null;
      if (!disk) return;
      fill.style.width = `${percent(disk.usedBytes, disk.usedBytes + disk.freeBytes)}%`;
      setText(
        caption,
        `${formatBytes(disk.usedBytes)} used by this page, ${formatBytes(disk.freeBytes)} free`,
      );
    },
  };
}
