/** Sign-in with a real OpenID Connect issuer in a real browser: SameSite cookies and the redirects between two sites. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { FREE, runFlotilla, startFlotilla, temporaryFolder } from '../e2e/flotilla-process.ts'
import { buildCluster } from '../../src/testing/fixtures/builders.ts'
import { CLIENT_ID, startIssuer } from '../../src/testing/hub/oidc-issuer.ts'
import { openBrowser, violationsOf } from './console-browser.ts'

const WAIT = { timeout: 120_000 }

const GUARDED = `
apiVersion: flotilla.dev/v1alpha1
kind: Placement
metadata: { name: stores, namespace: default }
spec: { clusterSelector: { matchLabels: { tier: store } } }
---
apiVersion: flotilla.dev/v1alpha1
kind: RolloutPlan
metadata: { name: guarded, namespace: default }
spec:
  rings: [{ name: stores, concurrency: 1, approvals: { count: 1, groups: ['oidc:store-ops'] } }]
---
apiVersion: flotilla.dev/v1alpha1
kind: Bundle
metadata: { name: tills, namespace: default }
spec:
  placement: stores
  rollout: { plan: guarded }
  manifests: |
    apiVersion: v1
    kind: ConfigMap
    metadata: { name: tills, namespace: default }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: { name: people }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view }
subjects: [{ kind: Group, name: 'oidc:people', apiGroup: rbac.authorization.k8s.io }]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: { name: approvers }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: 'flotilla:approver' }
subjects: [{ kind: Group, name: 'oidc:approvers', apiGroup: rbac.authorization.k8s.io }]
`

test('people sign in with the issuer, come back to the page they asked for, and do what their groups allow', async (t) => {
  const browser = await openBrowser(t)
  const folder = temporaryFolder(t)
  const issuer = await startIssuer(t)
  const ca = join(folder, 'issuer-ca.crt')
  writeFileSync(ca, issuer.ca)
  const oidc = ['--oidc-issuer', issuer.url, '--oidc-client-id', CLIENT_ID, '--oidc-ca', ca]
  const hub = startFlotilla(t, ['hub', 'run', '--data', join(folder, 'hub'), ...FREE, ...oidc])
  const [, origin = ''] = await hub.says(/ console (http:\/\/[^/\s]+)/)
  // The browser of a person trusts the CA of their issuer.
  const page = await (await browser.newContext({ ignoreHTTPSErrors: true })).newPage()
  issuer.signsIn('ana', ['ops'])

  await page.goto(`${origin}/rollouts`)
  const link = page.getByRole('link', { name: `Sign in with ${new URL(issuer.url).host}` })
  await link.waitFor(WAIT)
  assert.deepEqual(await violationsOf(page), [])
  await link.click()
  await page.waitForURL(`${origin}/rollouts`, WAIT)
  await page.getByRole('button', { name: 'oidc:ana' }).waitFor(WAIT)
  await page.waitForSelector('.failure :text("You may not see the rollouts.")', WAIT)

  await page.getByRole('button', { name: 'oidc:ana' }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click(WAIT)
  await link.waitFor(WAIT)

  // Each person may do what the issuer and the ring's approval say.
  const kubeconfig = join(folder, 'hub/admin.kubeconfig')
  const store = JSON.stringify(buildCluster('store-1', { labels: { tier: 'store' } }))
  for (const input of [store, GUARDED]) {
    const { code, stderr } = await runFlotilla(t, ['apply', '-f', '-', '--kubeconfig', kubeconfig], { input })
    assert.equal(code, 0, stderr)
  }
  // The issuer remembers who signed in, so each person has a browser of their own.
  const openRollout = async (name: string, groups: readonly string[]) => {
    issuer.signsIn(name, groups)
    const own = await (await browser.newContext({ ignoreHTTPSErrors: true })).newPage()
    await own.goto(`${origin}/rollouts/default/tills-g1`)
    await own.getByRole('link', { name: `Sign in with ${new URL(issuer.url).host}` }).click(WAIT)
    await own.getByRole('button', { name: `oidc:${name}` }).waitFor(WAIT)
    return { own, approve: own.getByRole('button', { name: 'Approve', exact: true }) }
  }

  const vera = await openRollout('vera', ['people'])
  await vera.own.waitForSelector(
    '.off-reason:has-text(\'You need the right "create" on approvals.flotilla.dev\')',
    WAIT,
  )
  assert.equal(await vera.approve.getAttribute('aria-disabled'), 'true')

  const ana = await openRollout('ana', ['people', 'approvers'])
  await ana.approve.click(WAIT)
  await ana.own.waitForSelector('[role="dialog"] :text("by a member of group oidc:store-ops")', WAIT)
  const answer = ana.own.getByRole('dialog').getByRole('button', { name: 'Approve', exact: true })
  assert.equal(await answer.isDisabled(), true)
  assert.deepEqual(await violationsOf(ana.own), [])

  const bo = await openRollout('bo', ['people', 'approvers', 'store-ops'])
  await bo.approve.click(WAIT)
  await bo.own.keyboard.type('counted')
  await bo.own.keyboard.press('Enter')
  await bo.own.waitForSelector('[data-ring="stores"] :text("approved by oidc:bo")', WAIT)
  // The approval reaches the other open browser as well.
  await vera.own.waitForSelector('[data-ring="stores"] :text("approved by oidc:bo")', WAIT)
})
