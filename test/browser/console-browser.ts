/** A browser that is signed in to the console of a demo. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Browser, Page } from 'playwright-core'
import { buildConsole } from '../../scripts/console-workspace.ts'
import { launchChromium } from '../../scripts/console-chromium.ts'

/** Starts chromium, after the page of the sources as they are was built. */
export async function openBrowser(t: { after(fn: () => Promise<void>): void }): Promise<Browser> {
  await buildConsole()
  const browser = await launchChromium()
  t.after(() => browser.close())
  return browser
}

/** What a page complains about: errors, refused styles and scripts, dialogs. A conflict is not one: the console repeats the change. */
export function complaintsOf(page: Page): string[] {
  const complaints: string[] = []
  page.on('console', (message) => {
    if (!message.text().endsWith(' 409 (Conflict)')) complaints.push(message.text())
  })
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('dialog', (dialog) => complaints.push(`dialog ${dialog.message()}`))
  return complaints
}

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

interface AxeResult {
  readonly violations: readonly { readonly id: string; readonly nodes: readonly { readonly html: string }[] }[]
}

/** Violations of WCAG 2.2 A and AA on the page as it is shown. */
export async function violationsOf(page: Page): Promise<string[]> {
  // Through the debugger, because the page's policy admits no script but its own.
  await page.evaluate(AXE)
  const tags = JSON.stringify(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'])
  const { violations } = await page.evaluate<AxeResult>(
    `axe.run(document, { runOnly: { type: 'tag', values: ${tags} } })`,
  )
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`)
}
