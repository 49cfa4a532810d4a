import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

/** Usual paths of Chromium. The environment variable `CHROMIUM` names another one. */
const PLACES = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  'C:/Program Files/Google/Chrome/Application/chrome.exe',
];

/** @returns undefined if no browser is installed */
export function chromiumPath(): string | undefined {
  return [process.env.CHROMIUM ?? '', ...PLACES].find((place) => place !== '' && existsSync(place));
}

/** The system's Chromium, without a window. @throws Error if none is installed */
export async function launchBrowser(): Promise<Browser> {
  const executablePath = chromiumPath();
  if (executablePath === undefined) throw new Error('There is no Chromium: set CHROMIUM to its path');
  // Chromium's sandbox needs permissions that containers rarely have, and the page is our own.
  return await chromium.launch({ executablePath, args: ['--no-sandbox'] });
}
