// SPDX-License-Identifier: MIT
// The two sides of the page: conversations left, activity and settings right. On wide screens they stand beside the
// chat and can be put away; on narrow ones they are drawers over it. What is put away is inert, so that neither Tab nor
// a screen reader walks into it; opening a drawer moves the focus in, closing gives it back.

import { byId } from './dom.js';

interface Side {
  element: HTMLElement;
  close: HTMLButtonElement;
  /** When it is a drawer; the widths are also in styles/layout.css. */
  narrow: MediaQueryList;
  openedBy: HTMLElement | null;
  open: boolean;
}

export interface Drawers {
  closeSidebar(): void;
}

export function setUpDrawers(): Drawers {
  const app = byId('app', HTMLElement);
  const backdrop = byId('backdrop', HTMLElement);
  const sidebar = makeSide('sidebar', '(max-width: 859px)');
  const panel = makeSide('panel', '(max-width: 1139px)');
  const tabs = setUpTabs();
  const activityOpen = byId('activity-open', HTMLButtonElement);
  const settingsOpen = byId('settings-open', HTMLButtonElement);
  const sidebarOpen = byId('sidebar-open', HTMLButtonElement);

  const apply = (): void => {
    for (const side of [sidebar, panel]) {
      side.element.inert = !side.open;
      side.element.dataset['open'] = String(side.open);
    }
    app.dataset['sidebar'] = String(sidebar.open);
    app.dataset['panel'] = String(panel.open);
    backdrop.dataset['on'] = String([sidebar, panel].some((side) => side.open && side.narrow.matches));
    sidebarOpen.setAttribute('aria-expanded', String(sidebar.open));
    activityOpen.setAttribute('aria-expanded', String(panel.open && tabs.current() === 'activity'));
    settingsOpen.setAttribute('aria-expanded', String(panel.open && tabs.current() === 'settings'));
  };
  const set = (side: Side, open: boolean, by: HTMLElement | null = null): void => {
    if (side.open === open) return apply();
    side.open = open;
    apply();
    if (open) {
      side.openedBy = by;
      if (side.narrow.matches) side.close.focus();
    } else {
      side.openedBy?.focus();
    }
  };
  const togglePanel = (tab: TabName, by: HTMLElement): void => {
    const isShown = panel.open && tabs.current() === tab;
    tabs.select(tab);
    set(panel, !isShown, by);
  };

  sidebarOpen.addEventListener('click', () => set(sidebar, !sidebar.open, sidebarOpen));
  activityOpen.addEventListener('click', () => togglePanel('activity', activityOpen));
  settingsOpen.addEventListener('click', () => togglePanel('settings', settingsOpen));
  backdrop.addEventListener('click', () =>
    [sidebar, panel].forEach((side) => set(side, !side.narrow.matches && side.open)),
  );
  tabs.onChange(apply);
  for (const side of [sidebar, panel]) {
    side.close.addEventListener('click', () => set(side, false));
    side.element.addEventListener('keydown', (event) => {
      if (event.key !== 'Escape' || !side.narrow.matches || event.defaultPrevented) return;
      event.preventDefault(); // Esc closes the drawer first; it stops an answer only when no drawer is open.
      set(side, false);
    });
    side.narrow.addEventListener('change', () => {
      side.open = !side.narrow.matches;
      apply();
    });
  }
  apply();
  return {
    closeSidebar: () => {
      if (sidebar.narrow.matches) set(sidebar, false);
    },
  };
}

function makeSide(id: string, query: string): Side {
  const narrow = window.matchMedia(query);
  return {
    element: byId(id, HTMLElement),
    close: byId(`${id}-close`, HTMLButtonElement),
    narrow,
    openedBy: null,
    open: !narrow.matches,
  };
}

const TABS = ['activity', 'settings'] as const;
type TabName = (typeof TABS)[number];

interface Tabs {
  current(): TabName;
  select(name: TabName): void;
  onChange(listener: () => void): void;
}

function setUpTabs(): Tabs {
  const buttons = TABS.map((name) => byId(`tab-${name}`, HTMLButtonElement));
  const pages = TABS.map((name) => byId(`${name}-panel`, HTMLElement));
  let current: TabName = 'activity';
  let listener = (): void => undefined;
  const select = (name: TabName): void => {
    current = name;
    for (const [index, tab] of TABS.entries()) {
      const isCurrent = tab === name;
      buttons[index]?.setAttribute('aria-selected', String(isCurrent));
      buttons[index]?.setAttribute('tabindex', isCurrent ? '0' : '-1');
      const page = pages[index];
      if (page) page.hidden = !isCurrent;
    }
    listener();
  };
  for (const [index, button] of buttons.entries()) {
    button.addEventListener('click', () => select(TABS[index] ?? 'activity'));
    button.addEventListener('keydown', (event) => {
      if (event.key !== 'ArrowLeft' && event.key !== 'ArrowRight') return;
      const other = 1 - index;
      select(TABS[other] ?? 'activity');
      buttons[other]?.focus();
    });
  }
  select(current);
  return {
    current: () => current,
    select,
    onChange: (next) => {
      listener = next;
    },
  };
}
