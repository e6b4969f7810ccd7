// Takes the pictures of docs/console.md: the console of a demo in which something of everything happens, in both themes
// and in two widths. node scripts/console-screenshots.ts [--out DIR] [--only PAGE]
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { Browser, Page } from 'playwright-core'
import { endChildrenWithScript, run } from './child.ts'
import { buildConsole } from './console-workspace.ts'
import { launchChromium } from './console-chromium.ts'

endChildrenWithScript()
const root = join(import.meta.dirname, '..')
const { values } = parseArgs({
  options: { out: { type: 'string', default: join(root, 'docs/console') }, only: { type: 'string' } },
})

const SIZES = { wide: { width: 1440, height: 900 }, narrow: { width: 390, height: 844 } } as const
const READY_MS = 180_000
const QUALITY = 82

interface Shot {
  readonly name: string
  readonly path: string
  /** Text or selector that is shown once the page has its data. */
  readonly shows: string
  /** What a person does on the page before the picture. */
  readonly prepare?: (page: Page) => Promise<void>
  /** Main pages are taken in both themes and widths, the others once. */
  readonly isMain?: true
}

const SHOTS: readonly Shot[] = [
  { name: 'fleet', path: '/fleet', shows: '[data-cluster] [data-state]', isMain: true },
  { name: 'inbox', path: '/inbox', shows: '.inbox li', isMain: true },
  { name: 'rollout', path: '/rollouts/default/shop-g2', shows: '[data-ring]', isMain: true },
  { name: 'cluster', path: '/clusters/store-09', shows: '[data-bundle]', isMain: true },
  { name: 'bundle', path: '/bundles/default/shop', shows: '[data-version]', isMain: true },
  { name: 'guardrails', path: '/guardrails', shows: '.calendar .day-entry', isMain: true },
  { name: 'rollouts', path: '/rollouts', shows: '[data-rollout]' },
  { name: 'bundles', path: '/bundles', shows: '[data-bundle]' },
  { name: 'placements', path: '/placements', shows: '[data-placement]' },
  { name: 'placement', path: '/placements/default/stores?cluster=store-05', shows: '[data-check]' },
  { name: 'drift', path: '/drift', shows: '[data-cause]', prepare: showValues },
  { name: 'compliance', path: '/compliance?group=default%2Fstore-settings', shows: '[data-row]' },
  { name: 'audit', path: '/audit-log', shows: '[data-audit]' },
  { name: 'hub', path: '/hub', shows: '[data-part]' },
]

const OBJECTS = `
apiVersion: flotilla.dev/v1alpha1
kind: ClusterWindow
metadata: { name: black-friday }
spec:
  mode: Freeze
  times: [{ from: FREEZE_FROM, until: FREEZE_UNTIL }]
  clusterSelector: { matchLabels: { region: north } }
  exceptions: [{ name: incident, subjects: [{ kind: Role, name: incident-commander }] }]
  reason: Black Friday
---
apiVersion: flotilla.dev/v1alpha1
kind: Window
metadata: { name: at-night, namespace: default }
spec:
  mode: Open
  times: [{ schedule: '0 22 * * *', duration: 8h }]
  bundles: ['tills-*']
  reason: The stores are closed at night
---
apiVersion: policy.open-cluster-management.io/v1
kind: Policy
metadata:
  name: store-settings
  namespace: default
  annotations:
    policy.open-cluster-management.io/standards: NIST SP 800-53
    policy.open-cluster-management.io/controls: CM-2 Baseline Configuration
spec:
  disabled: false
  remediationAction: inform
  policy-templates:
    - objectDefinition:
        apiVersion: policy.open-cluster-management.io/v1
        kind: ConfigurationPolicy
        metadata: { name: store-settings }
        spec:
          remediationAction: inform
          severity: medium
          object-templates:
            - complianceType: musthave
              objectDefinition: { apiVersion: v1, kind: Namespace, metadata: { name: audited } }
---
apiVersion: cluster.open-cluster-management.io/v1beta2
kind: ManagedClusterSetBinding
metadata: { name: default, namespace: default }
spec: { clusterSet: default }
---
apiVersion: apps.open-cluster-management.io/v1
kind: PlacementRule
metadata: { name: policy-stores, namespace: default }
spec: { clusterSelector: { matchLabels: { region: north } } }
---
apiVersion: policy.open-cluster-management.io/v1
kind: PlacementBinding
metadata: { name: store-settings, namespace: default }
placementRef: { apiGroup: apps.open-cluster-management.io, kind: PlacementRule, name: policy-stores }
subjects: [{ apiGroup: policy.open-cluster-management.io, kind: Policy, name: store-settings }]
`

/** A demo in which something of everything happened; returns an address that signs in. */
async function startDemo(state: string): Promise<{ readonly demo: ChildProcess; readonly address: string }> {
  const env = { ...process.env, FLOTILLA_STATE_DIR: state }
  const main = join(root, 'src/cli/main.ts')
  const demo = spawn(process.execPath, [main, 'demo', '--clusters', '24'], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let said = ''
  demo.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()))
  const deadline = performance.now() + READY_MS
  while (!/kubeconfig +\S+\n/.test(said)) {
    if (demo.exitCode !== null || performance.now() > deadline) throw new Error(`the demo did not start:\n${said}`)
    await sleep(200)
  }
  const [, kubeconfig = ''] = /kubeconfig +(\S+)\n/.exec(said) ?? []
  const cli = async (...args: readonly string[]): Promise<string> => {
    const { code, output } = await run(process.execPath, [main, ...args], { env })
    if (code !== 0) throw new Error(`flotilla ${args.join(' ')} ended with code ${code}: ${output}`)
    return output
  }
  const admin = ['--kubeconfig', kubeconfig]
  const day = (days: number): string =>
    JSON.stringify(new Date(Date.now() + days * 86_400_000).toISOString().replace(/\.\d+Z$/, 'Z'))
  const file = join(state, 'objects.yaml')
  writeFileSync(file, OBJECTS.replace('FREEZE_FROM', day(5)).replace('FREEZE_UNTIL', day(10)))
  await cli('apply', '-f', file, ...admin)
  await until('the first rollout of shop', async () =>
    /"phase": "Completed"/.test(await cli('get', 'rollout', 'shop-g1', '-n', 'default', '-o', 'json', ...admin)),
  )
  await cli('demo', 'drift', 'store-05')
  await cli('demo', 'drift', 'store-06')
  await cli('cluster', 'hold', 'store-12', '--reason', 'the shop is being rebuilt', ...admin)
  await cli('cluster', 'add', 'store-new', ...admin)
  await cli('demo', 'release')
  await until('the ring that needs an approval', async () =>
    /ApprovalPending/.test(await cli('get', 'rollouts', '-n', 'default', '-o', 'json', ...admin)),
  )
  const [page = ''] = /https?:\S+/.exec(await cli('demo', 'page')) ?? []
  return { demo, address: page }
}

/** Asks once a second; the error of the last question is the cause when the time is over. */
async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + READY_MS
  for (;;) {
    const last = await isSo().catch((caught: unknown) => caught)
    if (last === true) return
    if (performance.now() > deadline) throw new Error(`${what}: waited ${READY_MS / 1000} s`, { cause: last })
    await sleep(1_000)
  }
}

/** Takes what the window shows as WebP, which is a fifth of PNG. */
async function picture(page: Page, file: string): Promise<void> {
  const session = await page.context().newCDPSession(page)
  const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: QUALITY })
  await session.detach()
  writeFileSync(file, Buffer.from(data, 'base64'))
}

/** Asks the first drifted cluster for values. */
async function showValues(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Show values…' }).first().click()
  await page.getByRole('dialog').getByRole('button', { name: 'Show values', exact: true }).click()
  await page.waitForSelector('[data-side="live"]', { timeout: READY_MS })
  await page.getByRole('button', { name: 'Dismiss' }).first().click()
}

async function take(page: Page, shot: Shot, origin: string): Promise<void> {
  const themes = shot.isMain ? (['light', 'dark'] as const) : (['light'] as const)
  const sizes = shot.isMain ? (['wide', 'narrow'] as const) : (['wide'] as const)
  for (const theme of themes) {
    await page.emulateMedia({ colorScheme: theme })
    for (const size of sizes) {
      await page.setViewportSize(SIZES[size])
      await page.goto(origin + shot.path)
      await page.waitForSelector(shot.shows, { timeout: 30_000 })
      await shot.prepare?.(page)
      await page.waitForTimeout(600)
      const name = shot.isMain ? `${shot.name}-${theme}-${size}` : shot.name
      await picture(page, join(values.out, `${name}.webp`))
      process.stdout.write(`${name}.webp\n`)
    }
  }
}

const state = mkdtempSync(join(tmpdir(), 'flotilla-screenshots-'))
let demo: ChildProcess | undefined
let browser: Browser | undefined
try {
  await buildConsole()
  mkdirSync(values.out, { recursive: true })
  const started = await startDemo(state)
  demo = started.demo
  browser = await launchChromium()
  const page = await browser.newPage()
  await page.goto(started.address)
  await page.waitForSelector('[data-cluster]')
  for (const shot of SHOTS) {
    if (values.only === undefined || values.only === shot.name) await take(page, shot, new URL(started.address).origin)
  }
} finally {
  await browser?.close()
  demo?.kill('SIGTERM')
  if (demo && demo.exitCode === null) await new Promise((ended) => demo!.once('exit', ended))
  rmSync(state, { recursive: true, force: true })
}
