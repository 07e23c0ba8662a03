// SPDX-License-Identifier: MIT
// The page of models: what can be opened at once, what is worth downloading, and adding one's own.

import type { Source, State, Store } from '../state.js';
import { byId, make, makeButton } from '../ui/dom.js';
import { formatBytes } from '../ui/format.js';
import { makeAddView } from './add-view.js';
import { OFFERS } from './catalogue.js';
import type { Offer } from './catalogue.js';
import { makeDiskView } from './disk-view.js';
import { fitOf } from './fit.js';
import { makeJobSlots } from './job-view.js';
import type { StoredModelActions } from './jobs.js';
import { modelRows } from './model-rows.js';
import { makePlanView } from './plan-view.js';

export interface ModelActions extends StoredModelActions {
  choose(source: Source): void;
  /** Opens it anew: what is damaged is downloaded again. */
  repair(url: string): void;
  remove(url: string): void;
}

export function setUpModelsView(store: Store, actions: ModelActions): void {
  const list = make('ul', { class: 'model-list', attributes: { 'aria-label': 'Models on this device' } });
  const offers = make('ul', { class: 'offers', attributes: { 'aria-label': 'Models to download' } });
  const disk = makeDiskView();
  const jobs = makeJobSlots(store, actions);
  const column = make(
    'div',
    { class: 'column' },
    make('h2', { text: 'Models', class: 'page-title' }),
    make('section', {}, make('h3', { text: 'On this device' }), list, disk.element),
    make('section', {}, make('h3', { text: 'Worth a try' }), offers),
    make('section', {}, make('h3', { text: 'Your own' }), makeAddView(store, actions, jobs)),
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
    list.replaceChildren(...modelRows(state, actions, jobs));
    void disk.refresh().then((freeBytes) => {
      const here = new Set(state.stored.map(({ url }) => url));
      const others = OFFERS.filter(({ url }) => !here.has(url));
      offers.replaceChildren(...others.map((offer) => makeOffer(offer, freeBytes, actions)));
    });
  });
}

function makeOffer(offer: Offer, freeBytes: number | null, actions: ModelActions): HTMLLIElement {
  const fit = fitOf(offer.bytes, freeBytes);
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
