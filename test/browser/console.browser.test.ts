/** The console in a real browser: signs in, shows the fleet, follows it, and can be used by all. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runFlotilla, startFlotilla, temporaryFolder } from '../e2e/flotilla-process.ts'
import { complaintsOf, openBrowser, violationsOf } from './console-browser.ts'

const WAIT = { timeout: 120_000 }

/** The width of the document once the parts that measure themselves have followed a resize, two frames later. */
const WIDTH_AFTER_RESIZE = `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() =>
  done(document.documentElement.scrollWidth))))`

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
const PLAN = `
apiVersion: flotilla.dev/v1alpha1
kind: RolloutPlan
metadata: { name: doors }
spec:
  rings:
    - { name: first, count: 1, concurrency: 1 }
    - { name: rest, concurrency: 5, approvals: { count: 1 } }
`
const doors = (text: string) => `
apiVersion: flotilla.dev/v1alpha1
kind: Bundle
metadata: { name: doors }
spec:
  placement: stores
  rollout: { plan: doors }
  manifests: |
    apiVersion: v1
    kind: ConfigMap
    metadata: { name: doors, namespace: default }
    data: { text: ${text} }
`
const VIEWER = `
apiVersion: v1
kind: ServiceAccount
metadata: { name: viewer, namespace: default }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: { name: see-clusters }
rules: [{ apiGroups: [flotilla.dev], resources: [clusters, clusterreports], verbs: [get, list, watch] }]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: { name: see-clusters }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: see-clusters }
subjects: [{ kind: ServiceAccount, name: viewer, namespace: default }]
`

test('the console shows the fleet, follows it without a reload, and obeys the rights of its user', async (t) => {
  const browser = await openBrowser(t)
  const state = { FLOTILLA_STATE_DIR: temporaryFolder(t) }
  const demo = startFlotilla(t, ['demo', '--clusters', '3'], { env: state })
  const [, address = '', kubeconfig = ''] = await demo.says(/console +(\S+)\n +kubeconfig +(\S+)\n/)
  const page = await browser.newPage()
  const complaints = complaintsOf(page)
  const origin = new URL(address).origin

  /** Waits for an element, and says what the page shows instead when it does not come. */
  const see = async (selector: string): Promise<void> => {
    await page.waitForSelector(selector, WAIT).catch(async (cause: unknown) => {
      const shown = await page.locator('body').innerText()
      throw new Error(`${selector} never came; the page shows:\n${shown}\n${complaints.join('\n')}`, { cause })
    })
  }
  const cli = async (args: readonly string[], input = ''): Promise<string> => {
    const { code, stdout, stderr } = await runFlotilla(t, [...args, '--kubeconfig', kubeconfig], { input })
    assert.equal(code, 0, stderr)
    return stdout
  }

  await t.test('the list shows what the CLI prints', async () => {
    await page.goto(address)
    await page.waitForURL((url) => url.pathname === '/fleet' && url.search === '')
    for (const name of ['store-01', 'store-02', 'store-03']) {
      await see(`[data-cluster="${name}"] [data-state="Ready"]`)
    }
    await see('.counts :text("3 clusters")')
    await see('canvas[data-tiles="3"]')
    // A cluster may change between the two looks.
    for (let left = 30; ; left -= 1) {
      const printed = (await cli(['get', 'clusters', '--no-headers'])).trim().split('\n')
      const states = printed.map((line) => line.split(/\s+/).slice(0, 2).join(' ')).toSorted()
      const shown = await page.evaluate<string[]>(
        `[...document.querySelectorAll('[data-cluster]')].map((row) => row.dataset.cluster + ' ' + row.querySelector('[data-state]').dataset.state)`,
      )
      if (left === 0) assert.deepEqual(shown.toSorted(), states)
      if (shown.toSorted().join() === states.join()) break
    }
  })

  await t.test('a change arrives without a reload; focus and typed text stay', async () => {
    // A cluster that is held before its ring has begun would keep the rollout of the demo from its end.
    await page.goto(`${origin}/rollouts`)
    await see('[data-rollout="default/shop-g1"] [data-state="Completed"]')
    await page.goto(`${origin}/fleet`)
    await see('[data-cluster="store-03"]')
    const loads: string[] = []
    page.on('load', () => loads.push('load'))
    await page.keyboard.press('/')
    await page.keyboard.type('store-0')
    await cli(['apply', '-f', '-'], `${PLACEMENT}---${BUNDLE}`)
    await page.goto(`${origin}/bundles`)
    await see('[data-bundle="default/late"]')
    assert.equal(loads.length, 1, 'the one that this test asked for')
    await page.goto(`${origin}/fleet?q=store-0`)
    await see('[data-cluster="store-01"]')
    await page.focus('[data-filter]')
    await cli(['cluster', 'hold', 'store-03', '--reason', 'a test'])
    await see('[data-cluster="store-03"] .badge:text("Held")')
    assert.equal(await page.evaluate('document.activeElement.hasAttribute("data-filter")'), true)
    assert.equal(await page.inputValue('[data-filter]'), 'store-0')
    assert.equal(loads.length, 2)
  })

  await t.test('the page of a cluster: bundles, why, objects as text', async () => {
    await page.goto(`${origin}/clusters/store-01`)
    await see('[data-bundle="default/late"]')
    await see('[data-bundle="default/late"] :text("placement north")')
    await page.getByRole('tab', { name: 'Objects' }).click()
    await see('.tree :text("<img src=x onerror=alert(1)>")')
    assert.equal(await page.locator('.tree img').count(), 0)
    await page.getByRole('tab', { name: 'Agent log' }).click()
    await page.getByRole('button', { name: 'Ask for the log' }).click()
    await see('pre.log')
    await page.goto(`${origin}/clusters/store-02`)
    await see('[data-bundle="default/shop"]')
    assert.equal(await page.locator('[data-bundle="default/late"]').count(), 0)
  })

  await t.test('search by keyboard opens a cluster', async () => {
    await page.keyboard.press('Control+k')
    await page.keyboard.type('store-03')
    await see('[role="option"][aria-selected="true"] :text("store-03")')
    await page.keyboard.press('Enter')
    await page.waitForURL(`${origin}/clusters/store-03`)
    await page.keyboard.press('g')
    await page.keyboard.press('r')
    await page.waitForURL(`${origin}/rollouts`)
    await see('[data-rollout="default/shop-g1"] [data-state="Completed"]')
  })

  await t.test('no page breaks a rule of WCAG 2.2 AA in either theme, and none overflows a telephone', async () => {
    const paths = [
      '/fleet',
      '/clusters/store-01',
      ...['objects', 'drift', 'events', 'log'].map((tab) => `/clusters/store-01?tab=${tab}`),
      '/inbox',
      '/rollouts',
      '/rollouts/default/shop-g1',
      '/bundles',
      '/bundles/default/late',
      '/placements',
      '/placements/default/north?cluster=store-01',
      '/drift',
      '/guardrails',
      '/compliance?results=policy',
      '/audit-log',
      '/hub',
      '/sessions',
    ]
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      for (const path of paths) {
        await page.setViewportSize({ width: 1280, height: 800 })
        await page.goto(origin + path)
        await see('main h1, main h2')
        await page.waitForLoadState('networkidle').catch(() => {}) // the stream of events stays open
        assert.deepEqual(await violationsOf(page), [], `${path} ${colorScheme}`)
        await page.setViewportSize({ width: 390, height: 844 })
        assert.equal(await page.evaluate(WIDTH_AFTER_RESIZE), 390, path)
      }
    }
  })

  await t.test('a ring is approved from the Inbox by keyboard, with a reason', async () => {
    await page.setViewportSize({ width: 1280, height: 800 })
    await cli(['cluster', 'release', 'store-03'])
    await cli(['apply', '-f', '-'], `${PLAN}---${doors('one')}`)
    await page.goto(`${origin}/inbox`)
    await see('.inbox :text("Ring \\"rest\\" needs an approval")')
    assert.deepEqual(await violationsOf(page), [])
    await page.getByRole('button', { name: 'Approve', exact: true }).focus()
    await page.keyboard.press('Enter')
    await see('[role="dialog"] input')
    assert.deepEqual(await violationsOf(page), [])
    await page.keyboard.type('looks good')
    await see(`[role="dialog"] :text("flotilla rollout approve doors-g1 -n default --ring rest --reason 'looks good'")`)
    await page.keyboard.press('Enter')
    await see('.notice:has-text("Approve: done")')
    await page.goto(`${origin}/rollouts/default/doors-g1`)
    await see('[data-ring="rest"] [data-state="Passed"]')
    await see('[data-ring="rest"] :text("approved by admin")')
    await see('.head-state [data-state="Completed"]')
    assert.deepEqual(await violationsOf(page), [])
  })

  await t.test('a rollout is paused in one browser, seen in another, and rolled back after its plan', async () => {
    await cli(['apply', '-f', '-'], doors('two'))
    const link = (await runFlotilla(t, ['demo', 'page'], { env: state })).stdout.trim()
    const other = await (await browser.newContext()).newPage()
    await other.goto(link)
    await other.waitForURL((url) => url.pathname === '/fleet')
    await page.goto(`${origin}/rollouts/default/doors-g2`)
    await other.goto(`${origin}/rollouts/default/doors-g2`)
    await page.getByRole('button', { name: 'Pause', exact: true }).click(WAIT)
    await page.getByLabel(/^Reason/).fill('store calls')
    await page.getByRole('dialog').getByRole('button', { name: 'Pause', exact: true }).click()
    await see('.notice:has-text("Pause: done")')
    await other.waitForSelector('.head-state [data-state="Paused"]', WAIT)
    const { stdout } = await runFlotilla(t, ['rollout', 'status', 'doors-g2', '--kubeconfig', kubeconfig])
    assert.match(stdout, /Paused.*"store calls"/)
    await page.getByRole('button', { name: 'Resume', exact: true }).click(WAIT)
    await page.getByRole('dialog').getByRole('button', { name: 'Resume', exact: true }).click()
    await see('.notice:has-text("Resume: done")')
    await see('[data-ring="first"] [data-state="Passed"]')

    await page.getByRole('button', { name: 'Roll back…' }).click()
    await see('.plan :text("doors: g2 → g1 on 1 cluster (store-01)")')
    await page.getByRole('dialog').getByRole('button', { name: 'Roll back', exact: true }).click()
    await see('.notice:has-text("Roll back: done")')
    await other.goto(`${origin}/rollouts`)
    await other.waitForSelector('[data-rollout="default/doors-g2-undo-1"]', WAIT)

    await page.goto(`${origin}/inbox`)
    const item = page.locator('.inbox li:has-text("Held back: release doors-g2")')
    await item.getByRole('button', { name: 'Lift the mark…' }).click(WAIT)
    await see('[role="dialog"] :text("flotilla release lift doors-g2 -n default --bundle doors")')
    await page.getByRole('dialog').getByRole('button', { name: 'Lift the mark', exact: true }).click()
    await see('.notice:has-text("Lift the mark: done")')
    const release = JSON.parse(await cli(['get', 'release', 'doors-g2', '-o', 'json'])) as { status: { bad?: [] } }
    assert.deepEqual(release.status.bad ?? [], [])
  })

  await t.test('drift is shown and reverted, and a cluster that is away is decommissioned', async () => {
    const played = await runFlotilla(t, ['demo', 'drift', 'store-02'], { env: state })
    assert.equal(played.code, 0, played.stderr)
    await page.goto(`${origin}/clusters/store-02?tab=drift`)
    await see('.drift code')
    assert.deepEqual(await violationsOf(page), [])
    await page.getByRole('button', { name: 'Revert', exact: true }).click()
    await page.getByLabel(/^Reason/).fill('not agreed')
    await page.getByRole('dialog').getByRole('button', { name: 'Revert', exact: true }).click()
    await see('.notice:has-text("Revert: done")')
    await see(':text("No drift was reported.")')

    const cut = await runFlotilla(t, ['demo', 'offline', 'store-02'], { env: state })
    assert.equal(cut.code, 0, cut.stderr)
    await see('.head-state [data-state="Offline"]')
    await page.getByRole('button', { name: 'Decommission…' }).click(WAIT)
    await page.getByRole('radio', { name: /does not wait/ }).check(WAIT)
    assert.deepEqual(await violationsOf(page), [])
    await see('[role="dialog"] :text("flotilla cluster decommission store-02 --orphan --force-unreachable")')
    await page.getByLabel(/^Type/).fill('store-02')
    await page.getByRole('dialog').getByRole('button', { name: 'Decommission', exact: true }).click()
    await see('.notice:has-text("Decommission: done")')
    for (let left = 120; ; left -= 1) {
      const text = await cli(['get', 'cluster', 'store-02', '-o', 'json'])
      if (text.includes('"verdict": "Revoked"') || left === 0) {
        assert.match(text, /"forceUnreachable": true/)
        assert.match(text, /"verdict": "Revoked"/)
        break
      }
    }
  })

  await t.test('a user with fewer rights sees what they allow, and which right a button needs', async () => {
    await cli(['apply', '-f', '-'], VIEWER)
    const { status } = await page.evaluate<{ readonly status: { readonly token: string } }>(`
      fetch('/api/v1/namespaces/default/serviceaccounts/viewer/token', {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-flotilla-console': '1' },
        body: '{"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest","spec":{}}',
      }).then((response) => response.json())`)
    const { token } = status
    const other = await (await browser.newContext()).newPage()
    await other.goto(origin)
    await other.getByLabel('Token').fill('wrong')
    await other.getByRole('button', { name: 'Sign in' }).click()
    await other.waitForSelector('[role="alert"]', WAIT)
    await other.getByLabel('Token').fill(token)
    await other.getByRole('button', { name: 'Sign in' }).click()
    await other.waitForSelector('[data-cluster="store-01"]', WAIT)
    await other.goto(`${origin}/clusters/store-01?tab=log`)
    const button = other.getByRole('button', { name: 'Ask for the log' })
    await other.waitForSelector('.off-reason', WAIT)
    assert.equal(await button.getAttribute('aria-disabled'), 'true')
    assert.equal(await other.textContent('.off-reason'), 'You need the right "patch" on clusters.flotilla.dev.')
    await other.goto(`${origin}/rollouts`)
    await other.waitForSelector('.failure :text("You may not see the rollouts.")', WAIT)
    assert.deepEqual(await violationsOf(other), [])
  })

  await t.test('a used code opens nothing, and the end of the hub is shown', async () => {
    const other = await (await browser.newContext()).newPage()
    assert.equal((await other.goto(address))?.status(), 401)
    const again = await runFlotilla(t, ['demo', 'page'], { env: state })
    assert.equal((await other.goto(again.stdout.trim()))?.status(), 200, again.stderr)
    assert.deepEqual(complaints, [])
    await page.goto(`${origin}/fleet`)
    await see('[data-link="live"]')
    const ended = await demo.stop('SIGTERM')
    assert.equal(ended.code, 0, ended.stderr)
    await see('[data-link="lost"]')
  })
})
