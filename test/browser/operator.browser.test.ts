/** What an operator does in the console of a live demo: sees a rollout stop, selects clusters, freezes, accepts, explains. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { runFlotilla, startFlotilla, temporaryFolder } from '../e2e/flotilla-process.ts'
import { buildCluster } from '../../src/testing/fixtures/builders.ts'
import { complaintsOf, openBrowser, violationsOf } from './console-browser.ts'

const WAIT = { timeout: 120_000 }

const PLAN = `
apiVersion: flotilla.dev/v1alpha1
kind: RolloutPlan
metadata: { name: careful }
spec:
  rings:
    - { name: first, count: 1, concurrency: 1, maxFailed: 0 }
    - { name: rest, concurrency: 5, approvals: { count: 1 } }
`
const tills = (image: string, text: string) => `
apiVersion: flotilla.dev/v1alpha1
kind: Bundle
metadata: { name: tills }
spec:
  placement: stores
  rollout: { plan: careful }
  manifests: |
    apiVersion: v1
    kind: ConfigMap
    metadata: { name: tills, namespace: default }
    data: { text: ${text} }
    ---
    apiVersion: apps/v1
    kind: Deployment
    metadata: { name: tills, namespace: default }
    spec:
      selector: { matchLabels: { app: tills } }
      template:
        metadata: { labels: { app: tills } }
        spec: { containers: [{ name: tills, image: "${image}" }] }
`
const WATCHER = `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: { name: see-clusters }
rules: [{ apiGroups: [flotilla.dev], resources: [clusters], verbs: [get, list, watch] }]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: { name: see-clusters }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: see-clusters }
subjects: [{ kind: ServiceAccount, name: watcher, namespace: default }]
---
apiVersion: v1
kind: ServiceAccount
metadata: { name: watcher, namespace: default }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: { name: watcher }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view }
subjects: [{ kind: ServiceAccount, name: watcher, namespace: default }]
`

// Changes clusters and sees their reports, and may not ask for values.
const MECHANIC = `
apiVersion: v1
kind: ServiceAccount
metadata: { name: mechanic, namespace: default }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: { name: change-clusters }
rules: [{ apiGroups: [flotilla.dev], resources: [clusters, clusterreports], verbs: [get, list, watch, patch] }]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: { name: change-clusters }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: change-clusters }
subjects: [{ kind: ServiceAccount, name: mechanic, namespace: default }]
`

test('an operator follows a rollout that stops, and acts on several clusters', async (t) => {
  const browser = await openBrowser(t)
  const state = { FLOTILLA_STATE_DIR: temporaryFolder(t) }
  const demo = startFlotilla(t, ['demo', '--clusters', '3'], { env: state })
  const [, address = '', kubeconfig = ''] = await demo.says(/console +(\S+)\n +kubeconfig +(\S+)\n/)
  const page = await browser.newPage()
  const complaints = complaintsOf(page)
  const origin = new URL(address).origin
  const see = async (selector: string, on: Page = page): Promise<void> => {
    await on.waitForSelector(selector, WAIT).catch(async (cause: unknown) => {
      const shown = await on.locator('body').innerText()
      throw new Error(`${selector} never came; the page shows:\n${shown}\n${complaints.join('\n')}`, { cause })
    })
  }
  const cli = async (args: readonly string[], input = ''): Promise<string> => {
    const { code, stdout, stderr } = await runFlotilla(t, [...args, '--kubeconfig', kubeconfig], { input, env: state })
    assert.equal(code, 0, stderr)
    return stdout
  }
  /** Opens a rollout that was only just caused. */
  const openNew = async (name: string): Promise<void> => {
    await page.goto(`${origin}/rollouts`)
    await page.locator(`[data-rollout="default/${name}"] a`).first().click(WAIT)
    await page.waitForURL(`${origin}/rollouts/default/${name}`)
  }
  /** Signs a ServiceAccount in to a browser of its own. */
  const signInAs = async (name: string): Promise<Page> => {
    const { status } = await page.evaluate<{ readonly status: { readonly token: string } }>(`
      fetch('/api/v1/namespaces/default/serviceaccounts/${name}/token', {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-flotilla-console': '1' },
        body: '{"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest","spec":{}}',
      }).then((response) => response.json())`)
    const other = await (await browser.newContext()).newPage()
    await other.goto(origin)
    await other.getByLabel('Token').fill(status.token)
    await other.getByRole('button', { name: 'Sign in' }).click()
    await see('[data-cluster="store-01"]', other)
    return other
  }
  const inDialog = (name: string) => page.getByRole('dialog').getByRole('button', { name, exact: true })
  await page.goto(address)
  await page.waitForURL((url) => url.pathname === '/fleet')
  await page.goto(`${origin}/rollouts`)
  await see('[data-rollout="default/shop-g1"] [data-state="Completed"]')

  await t.test('a rollout stops at its first ring, and its page names the object that fails', async () => {
    await cli(['apply', '-f', '-'], `${PLAN}---${tills('registry.example/tills:1.0', 'one')}`)
    await openNew('tills-g1')
    await see('[data-ring="first"] [data-state="Passed"]')
    await page.getByRole('button', { name: 'Approve', exact: true }).click(WAIT)
    await see('[role="dialog"] :text("first: 1 of 1 ready")')
    await see('[role="dialog"] [data-change="added Deployment/tills"]')
    assert.deepEqual(await violationsOf(page), [])
    await inDialog('Approve').click()
    await see('.head-state [data-state="Completed"]')

    await runFlotilla(t, ['demo', 'break', 'store-01'], { env: state })
    await cli(['apply', '-f', '-'], tills('registry.example/tills:2.0', 'one'))
    await openNew('tills-g2')
    await see('.head-state [data-state="Failed"]')
    await see('tr[data-cluster="store-01"] strong:has-text("Deployment default/tills")')
    await see('[data-ring="rest"] [data-state="Waiting"]')
    assert.deepEqual(await violationsOf(page), [])
    await page.goto(`${origin}/inbox`)
    const item = page.locator('.inbox li:has-text("tills-g2")')
    await item.getByRole('button', { name: 'Retry', exact: true }).waitFor(WAIT)
    await item.getByRole('button', { name: 'Roll back…' }).click(WAIT)
    await page.getByLabel(/^Clusters/).fill('store-02')
    await see('[role="dialog"] :text("No selected cluster runs the release of this rollout.")')
    await page.getByLabel(/^Clusters/).fill('store-01')
    await see('.plan :text("tills: g2 → g1 on 1 cluster (store-01)")')
    await see('[role="dialog"] :text("flotilla rollback tills-g2 -n default --cluster store-01")')
    assert.deepEqual(await violationsOf(page), [])
    await page.keyboard.press('Escape')
  })

  await t.test('the objects that a release changes, and the burn-up', async () => {
    await page.goto(`${origin}/rollouts/default/tills-g2`)
    await see('[data-change="changed Deployment/tills"]')
    assert.equal(await page.locator('[data-change="changed ConfigMap/tills"]').count(), 0)
    await see('.difference :text("1 object is unchanged.")')
    await see('.burn-up svg')
    const rows = await cli([
      'get',
      'releaseobjects',
      '-n',
      'default',
      '--field-selector',
      'release=tills-g2',
      '-o',
      'json',
    ])
    assert.equal((JSON.parse(rows) as { items: unknown[] }).items.length, 2)
    await page.goto(`${origin}/bundles/default/tills?from=tills-g2&to=tills-g1`)
    await see('.difference :text("Against tills-g2.")')
    await see('[data-change="changed Deployment/tills"]')
    assert.deepEqual(await violationsOf(page), [])
    await runFlotilla(t, ['demo', 'break', 'store-01', '--undo'], { env: state })
  })

  await t.test('two clusters are selected by keyboard, held and released at once', async () => {
    await page.goto(`${origin}/fleet?sort=name`)
    await see('[data-cluster="store-03"]')
    for (const key of ['j', 'j', 'x', 'j', 'x']) await page.keyboard.press(key)
    await see('.selection :text("2 selected")')
    assert.deepEqual(await violationsOf(page), [])
    await page.getByRole('button', { name: 'Hold 2…' }).focus()
    await page.keyboard.press('Enter')
    await see('[role="dialog"] :text("store-02, store-03")')
    assert.deepEqual(await violationsOf(page), [])
    await page.keyboard.type('stocktaking')
    await see(`[role="dialog"] :text("flotilla cluster hold store-02 store-03 --reason 'stocktaking'")`)
    await page.keyboard.press('Enter')
    await see('.notice:has-text("Hold: done on 2 of 2 clusters")')
    await see('[data-cluster="store-02"] .badge:has-text("Held")')
    assert.match(await cli(['get', 'cluster', 'store-03', '-o', 'yaml']), /reason: stocktaking/)
    await page.goto(`${origin}/guardrails`)
    await see('[data-exception="store-02"] :text("stocktaking")')
    await page.goto(`${origin}/clusters/store-02`)
    await see('.banner:has-text("stocktaking")')
    await page.goto(`${origin}/fleet?q=badge:held`)
    await page.getByRole('checkbox', { name: 'Select all 2 shown clusters' }).check(WAIT)
    await page.getByRole('button', { name: 'Release 2…' }).click(WAIT)
    await inDialog('Release').click()
    await see('.notice:has-text("Release: done on 2 of 2 clusters")')
    assert.doesNotMatch(await cli(['get', 'cluster', 'store-02', '-o', 'yaml']), /stocktaking/)
    // The last of the two requests, by its audit ID.
    await page.locator('.notice a').last().click(WAIT)
    await page.waitForURL((url) => url.pathname === '/audit-log')
    await see('[data-audit] :text("store-03")')
    assert.equal(await page.locator('[data-audit]').count(), 1)
  })

  await t.test('the clusters of a filter are frozen, seen in the calendar, and the freeze is lifted', async () => {
    await page.goto(`${origin}/fleet?q=region:north`)
    await page.getByRole('button', { name: 'Freeze…' }).click(WAIT)
    assert.equal(await page.getByLabel(/^Labels of the clusters/).inputValue(), 'region=north')
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('stocktaking')
    await page.getByLabel(/^Until/).fill('2099-01-01T10:00')
    await page.getByLabel(/^Reason/).fill('counting')
    await inDialog('Freeze').click()
    await see('.notice:has-text("Freeze: done")')
    assert.match(await cli(['freeze', 'list']), /stocktaking/)
    await page.goto(`${origin}/guardrails`)
    await see('.day-entry:has-text("stocktaking")')
    await page.getByRole('button', { name: 'Lift', exact: true }).click(WAIT)
    await inDialog('Lift').click()
    await see('.notice:has-text("Lift: done")')
    assert.doesNotMatch(await cli(['freeze', 'list']), /stocktaking/)
  })

  await t.test('a cluster that waits is accepted, and two browsers see it', async () => {
    const link = (await runFlotilla(t, ['demo', 'page'], { env: state })).stdout.trim()
    const other = await (await browser.newContext()).newPage()
    await other.goto(link)
    await other.waitForURL((url) => url.pathname === '/fleet')
    const waiting = buildCluster('newcomer', { labels: { region: 'north' }, spec: { accepted: false } })
    await cli(['apply', '-f', '-'], JSON.stringify(waiting))
    await page.goto(`${origin}/inbox`)
    await see('.inbox :text("newcomer")')
    await other.goto(`${origin}/clusters/newcomer`)
    await see('button:has-text("Reject")', other)
    await page.getByRole('button', { name: 'Accept', exact: true }).click(WAIT)
    await inDialog('Accept').click()
    await see('.notice:has-text("Accept: done")')
    await see('button:has-text("Decommission…")', other)
    assert.match(await cli(['get', 'cluster', 'newcomer', '-o', 'yaml']), /accepted: true/)
    await other.close()
  })

  await t.test('why a cluster is selected, as flotilla explain says', async () => {
    await page.goto(`${origin}/placements/default/stores?cluster=store-01`)
    await see('[data-check]')
    const said = JSON.parse(
      await cli(['explain', 'placement/stores', 'store-01', '-n', 'default', '-o', 'json']),
    ) as object
    const shown = await page.locator('[data-check]').allInnerTexts()
    for (const check of ['selector', 'taints']) {
      assert.ok(
        shown.some((text) => text.startsWith(check)),
        shown.join('\n'),
      )
      assert.ok(JSON.stringify(said).includes(check))
    }
  })

  await t.test(
    'the values of drift stand side by side for who may see them, and drift of two clusters is reverted at once',
    async () => {
      for (const store of ['store-02', 'store-03']) {
        const { code, stderr } = await runFlotilla(t, ['demo', 'drift', store], { env: state })
        assert.equal(code, 0, stderr)
      }
      await page.goto(`${origin}/drift`)
      const row = page.locator('.drifted-clusters li:has-text("store-02")')
      await row.getByRole('button', { name: 'Show values…' }).click(WAIT)
      await see('[role="dialog"] :text("flotilla drift show store-02 --bundle default/shop --values")')
      await page.getByLabel(/^Reason/).fill('a complaint')
      await inDialog('Show values').click()
      await see('[data-values="store-02"] [data-side="delivered"]:has-text("good morning")')
      await see('[data-values="store-02"] [data-side="live"]:has-text("buy two, pay one")')
      assert.deepEqual(await violationsOf(page), [])
      const printed = await cli(['drift', 'show', 'store-02', '--values'])
      assert.match(printed, /delivered {2}good morning\n {6}live {7}buy two, pay one/)
      // The values of a report are for who asked: nothing that the hub stores has them.
      assert.doesNotMatch(await cli(['get', 'clusterreport', 'store-02', '-o', 'json']), /buy two/)

      await cli(['apply', '-f', '-'], MECHANIC)
      const other = await signInAs('mechanic')
      await other.goto(`${origin}/clusters/store-02?tab=drift`)
      await see(
        '.off-reason:has-text(\'You need the right "reveal" on bundlestates.view.flotilla.dev in namespace "default".\')',
        other,
      )
      const status = await other.evaluate<number>(`
      fetch('/apis/flotilla.dev/v1alpha1/clusters/store-02', {
        method: 'PATCH',
        headers: { 'content-type': 'application/merge-patch+json', 'x-flotilla-console': '1' },
        body: JSON.stringify({ spec: { valuesAsked: {
          at: '2026-01-01T00:00:00Z', bundle: 'default/shop', key: 'MCowBQYDK2VuAyEA' + 'A'.repeat(43) + '=',
        } } }),
      }).then((response) => response.status)`)
      assert.equal(status, 403)
      await other.close()

      await page.getByRole('button', { name: 'Revert 2…' }).click(WAIT)
      await page.getByLabel(/^Reason/).fill('not agreed')
      await see(`[role="dialog"] :text("do flotilla drift revert $name --bundle shop --reason 'not agreed'; done")`)
      await inDialog('Revert').click()
      await see('.notice:has-text("Revert: done on 2 of 2 clusters")')
      await see(':text("No cluster reports drift.")')
    },
  )

  await t.test('who may only look sees everything, and every button names the missing right', async () => {
    await cli(['apply', '-f', '-'], WATCHER)
    await cli(['apply', '-f', '-'], tills('registry.example/tills:3.0', 'two'))
    await openNew('tills-g3')
    await see('[data-ring="first"] [data-state="Passed"]')
    const other = await signInAs('watcher')
    await other.goto(`${origin}/rollouts/default/tills-g3`)
    await see(
      '.off-reason:has-text(\'You need the right "create" on approvals.flotilla.dev in namespace "default".\')',
      other,
    )
    const approve = other.getByRole('button', { name: 'Approve', exact: true })
    assert.equal(await approve.getAttribute('aria-disabled'), 'true')
    await approve.click({ force: true })
    assert.equal(await other.getByRole('dialog').count(), 0)
    await see('[data-change="changed ConfigMap/tills"]', other)
    await other.goto(`${origin}/fleet`)
    await see('.off-reason:has-text(\'You need the right "create" on clusterwindows.flotilla.dev.\')', other)
    assert.deepEqual(await violationsOf(other), [])
  })

  await t.test('a reload of the audit log is the page, with what was done and why', async () => {
    await page.goto(`${origin}/audit-log?q=stocktaking`)
    await see('[data-audit] :text("stocktaking")')
    assert.deepEqual(complaints, [])
  })
})
