/** The live page in a real browser: signs in with its code, shows the fleet, and follows it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chromium } from 'playwright-core'
import { findChromium } from '../../src/testing/testenv.ts'
import { runFlotilla, startFlotilla, temporaryFolder } from '../e2e/flotilla-process.ts'

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
const WAIT = { timeout: 120_000 }

const PLACEMENT = `
apiVersion: flotilla.dev/v1alpha1
kind: Placement
metadata: { name: north }
spec: { clusterSelector: { matchLabels: { region: north } } }
`
// What a person may write must show as text, whatever it looks like.
const BUNDLE = `
apiVersion: flotilla.dev/v1alpha1
kind: Bundle
metadata: { name: late }
spec:
  placement: north
  manifests: |
    apiVersion: v1
    kind: ConfigMap
    metadata: { name: "<img src=x onerror=alert(1)>", namespace: default }
`

test('three Ready clusters, then a change, without a reload', async (t) => {
  const executablePath = findChromium()
  assert.ok(executablePath, 'chromium is not on this machine')
  const state = { FLOTILLA_STATE_DIR: temporaryFolder(t) }
  const demo = startFlotilla(t, ['demo', '--clusters', '3'], { env: state })
  const [, address = '', kubeconfig = ''] = await demo.says(/console +(\S+)\n +kubeconfig +(\S+)\n/)
  const browser = await chromium.launch({ executablePath, args: ARGS })
  t.after(() => browser.close())
  const page = await browser.newPage()
  const troubles: string[] = []
  page.on('console', (message) => troubles.push(message.text()))
  page.on('pageerror', (error) => troubles.push(error.message))
  page.on('dialog', (dialog) => troubles.push(`dialog ${dialog.message()}`))

  /** Waits for an element, and says what the page shows instead when it does not come. */
  const see = async (selector: string): Promise<void> => {
    await page.waitForSelector(selector, WAIT).catch(async (cause: unknown) => {
      const shown = await page.locator('body').innerText()
      throw new Error(`${selector} never came; the page shows:\n${shown}\n${troubles.join('\n')}`, { cause })
    })
  }

  await page.goto(address)
  await page.waitForURL((url) => url.search === '')
  for (const name of ['store-01', 'store-02', 'store-03']) {
    await see(`[data-cluster="${name}"] td:nth-child(2) [data-state="Ready"]`)
  }
  await see('#counts :text("3 clusters")')
  await see('[data-rollout="default/shop-g1"] [data-state="Completed"]')
  assert.equal(await page.textContent('#link'), 'live')

  const loads: string[] = []
  page.on('load', () => loads.push('load'))
  const labelled = await runFlotilla(t, ['apply', '-f', '-', '--kubeconfig', kubeconfig], {
    input: `${PLACEMENT}---${BUNDLE}`,
  })
  assert.equal(labelled.code, 0, labelled.stderr)
  await see('[data-bundle="default/late"]')
  await see('[data-cluster="store-01"] :text("default/late")')
  assert.equal(await page.locator('[data-cluster="store-02"] :text("default/late")').count(), 0)
  assert.equal(await page.locator('img').count(), 0)
  // On a telephone everything is there without pushing the page aside.
  await page.setViewportSize({ width: 390, height: 844 })
  assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 390)
  await see('[data-cluster="store-01"] .label:text("region=north")')
  assert.deepEqual(loads, [])
  assert.deepEqual(troubles, [])

  // The code is used up: another browser does not get in with it.
  const other = await (await browser.newContext()).newPage()
  const answer = await other.goto(address)
  assert.equal(answer?.status(), 401)
  const again = await runFlotilla(t, ['demo', 'page'], { env: state })
  const fresh = again.stdout.trim()
  assert.equal((await other.goto(fresh))?.status(), 200, again.stderr)

  const ended = await demo.stop('SIGTERM')
  assert.equal(ended.code, 0, ended.stderr)
  await see('#link[data-state="lost"]')
})
