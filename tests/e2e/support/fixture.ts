// SPDX-License-Identifier: MIT
// A server, a fresh profile and a first visit for each test of a file, cleaned up whatever happens.

import { afterEach, beforeEach, expect } from '@jest/globals';
import { newProfile, startVisit } from './browser.js';
import type { Profile, Visit, VisitOptions } from './browser.js';
import { ChatPage } from './chat-page.js';
import { startServer } from './server.js';
import type { DemoServer } from './server.js';

export interface Fixture {
  server: DemoServer;
  profile: Profile;
  visit: Visit;
  chat: ChatPage;
  /** Ends the browser and comes back with the same profile. */
  visitAgain(): Promise<void>;
  /** Opens the page and waits for the default model. */
  openReady(): Promise<void>;
  /** Words that complaints may contain in this test: it provokes them. */
  allowComplaints(pattern: RegExp): void;
}

/** Call once per file (or describe block). The object is filled anew before each test. */
export function useFixture(options: { isolated?: boolean; visit?: VisitOptions } = {}): Fixture {
  const fixture = {} as Fixture;
  let allowed: RegExp | null = null;
  let open: Visit[] = [];

  const arrive = async (): Promise<void> => {
    fixture.visit = await startVisit(fixture.profile, options.visit);
    open.push(fixture.visit);
    fixture.chat = new ChatPage(fixture.visit.page);
  };

  beforeEach(async () => {
    allowed = null;
    open = [];
    fixture.server = await startServer({ isolated: options.isolated ?? true });
    fixture.profile = newProfile();
    fixture.allowComplaints = (pattern) => {
      allowed = pattern;
    };
    fixture.visitAgain = async () => {
      await fixture.visit.close();
      await arrive();
    };
    fixture.openReady = async () => {
      await fixture.chat.open(fixture.server.url);
      await fixture.chat.ready();
    };
    await arrive();
  });

  afterEach(async () => {
    const complaints = open.flatMap((visit) => visit.complaints);
    for (const visit of open) await visit.close();
    await fixture.server.close();
    fixture.profile.remove();
    expect(complaints.filter((text) => !allowed?.test(text))).toEqual([]);
  });

  return fixture;
}
