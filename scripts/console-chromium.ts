// The browser of tests and pictures of the console: the machine's chromium, without what it does on the network by itself.
import { chromium } from 'playwright-core'
import type { Browser } from 'playwright-core'
import { findChromium } from '../src/testing/testenv.ts'

const ARGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** Starts chromium. */
export async function launchChromium(): Promise<Browser> {
  const executablePath = findChromium()
  if (executablePath === undefined) throw new Error('chromium is not on this machine')
  return await chromium.launch({ executablePath, args: ARGS })
}
