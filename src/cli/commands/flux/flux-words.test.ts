/** `flotilla flux events`, `export` and `trace` against the real API server in memory. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { systemClock } from '../../../core/time/system-clock.ts'
import { GitRepository, Kustomization } from '../../../dialects/flux/kinds.ts'
import { HelmRelease } from '../../../dialects/flux/release/release-kind.ts'
import { HelmChart, HelmRepository } from '../../../dialects/flux/source-kinds.ts'
import { installDialects } from '../../../hub/home/dialects.ts'
import { Event } from '../../../kinds/builtin/core.ts'
import { build } from '../../../testing/fixtures/builders.ts'
import { createCliHub, expectErrorText } from '../../../testing/hub/cli-hub.ts'
import { FLUX_COMMAND_KINDS } from './flux-kinds.ts'
import { fluxLogs } from './flux-logs.ts'
import type { FluxLogsInput } from './flux-logs.ts'
import { fluxEvents, fluxExport, fluxTrace } from './flux-words.ts'
import type { FluxWordsInput } from './flux-words.ts'

const { signal } = new AbortController()
const NS = 'flux-system'
const { kustomization, git } = FLUX_COMMAND_KINDS

async function started(t: TestContext) {
  const hub = createCliHub(t)
  const { client, terminal } = hub
  await installDialects(['flux'], { client, clock: systemClock, signal })
  const ready = (message: string) => [
    { type: 'Ready', status: 'True' as const, reason: 'X', message, lastTransitionTime: '2026-01-01T00:00:00Z' },
  ]
  const source = { interval: '1m', url: 'https://git/x', ref: { branch: 'main' } }
  const repository = await client.create(GitRepository, build(GitRepository, `${NS}/fleet`, { spec: source }))
  const artifact = { revision: 'main@sha1:abc', digest: 'x', lastUpdateTime: '2026-01-01T00:00:00Z', size: 1 }
  const status = { artifact, conditions: ready('stored') }
  await client.update(GitRepository, { ...repository, status }, { subresource: 'status' })
  const spec = { interval: '1m', path: './apps', prune: true, sourceRef: { kind: 'GitRepository', name: 'fleet' } }
  const annotations = { 'flotilla.dev/compiled': 'x', 'flotilla.dev/placement': 'all' }
  const apps = await client.create(Kustomization, build(Kustomization, `${NS}/apps`, { spec }, { annotations }))
  const entries = [
    { id: '_admin__edit_rbac.authorization.k8s.io_ClusterRole', v: 'v1' },
    { id: 'shop_web_apps_Deployment', v: 'v1' },
  ]
  const applied = { conditions: ready('Applied'), inventory: { entries }, lastAppliedRevision: 'main@sha1:abc' }
  await client.update(Kustomization, { ...apps, status: applied }, { subresource: 'status' })
  const input = (flags: FluxWordsInput['flags'] = {}): FluxWordsInput => {
    return { connection: hub.connection, terminal, signal, flags }
  }
  return { hub, client, input }
}

test('export prints what a user would write', async (t) => {
  const { hub, input } = await started(t)
  await fluxExport(kustomization, 'apps', input())
  assert.equal(
    hub.taken().out,
    `---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  annotations:
    flotilla.dev/placement: all
  name: apps
  namespace: flux-system
spec:
  interval: 1m
  path: ./apps
  prune: true
  sourceRef:
    kind: GitRepository
    name: fleet
`,
  )
  await fluxExport(git, undefined, input({ all: true }))
  assert.match(hub.taken().out, /^---\napiVersion: source\.toolkit\.fluxcd\.io\/v1\nkind: GitRepository\n/)
  assert.match(await expectErrorText(fluxExport(git, undefined, input())), /a name is required/)
  assert.match(await expectErrorText(fluxExport(git, 'flet', input())), /"flet" not found/)
})

test('trace names the Kustomization and the source of an object', async (t) => {
  const { hub, input } = await started(t)
  await fluxTrace(['deployment', 'web'], input({ namespace: 'shop' }))
  assert.equal(
    hub.taken().out,
    `Object:        deployment/web
Namespace:     shop
Status:        Managed by Flux
---
Kustomization: apps
Namespace:     flux-system
Path:          ./apps
Revision:      main@sha1:abc
Status:        Last reconciled at 2026-01-01T00:00:00Z
Message:       Applied
---
GitRepository: fleet
Namespace:     flux-system
URL:           https://git/x
Branch:        main
Revision:      main@sha1:abc
Status:        Last reconciled at 2026-01-01T00:00:00Z
Message:       stored
`,
  )
  await fluxTrace(['clusterrole/admin:edit'], input())
  assert.match(hub.taken().out, /Kustomization: apps/)
  await fluxTrace(['web'], input({ namespace: 'shop', kind: 'Deployment', apiVersion: 'apps/v1' }))
  assert.match(hub.taken().out, /Kustomization: apps/)
  const elsewhere = fluxTrace(['deployment', 'web'], input({ namespace: 'other' }))
  assert.match(await expectErrorText(elsewhere), /deployment\/web of namespace "other" is in no inventory/)
  const batch = fluxTrace(['deployment', 'web'], input({ namespace: 'shop', apiVersion: 'batch/v1' }))
  assert.match(await expectErrorText(batch), /in no inventory/)
  assert.match(await expectErrorText(fluxTrace(['web'], input())), /an object is required/)
})

test('trace names the HelmRelease, its chart and the repository of the chart', async (t) => {
  const { hub, client, input } = await started(t)
  const repository = { interval: '1m', url: 'https://charts.example.com' }
  await client.create(HelmRepository, build(HelmRepository, `${NS}/charts`, { spec: repository }))
  const chart = { chart: 'web', version: '1.x', sourceRef: { kind: 'HelmRepository', name: 'charts' } }
  const helmChart = build(HelmChart, `${NS}/flux-system-web`, { spec: { ...chart, interval: '1m' } })
  await client.create(HelmChart, helmChart)
  const spec = { chart: { spec: chart }, interval: '1m' }
  const release = await client.create(HelmRelease, build(HelmRelease, `${NS}/web`, { spec }))
  const inventory = { entries: [{ id: 'web_web__Service', v: 'v1' }] }
  await client.update(
    HelmRelease,
    { ...release, status: { inventory, lastAppliedRevision: '1.2.0' } },
    { subresource: 'status' },
  )
  await fluxTrace(['service/web'], input({ namespace: 'web' }))
  const parts = hub.taken().out.split('---\n').slice(1)
  const told = parts.map((part) => part.split('\n').map((line) => line.replace(/: +/, ': ')))
  assert.deepEqual(
    told.map((lines) => lines.filter((line) => !/^(Namespace|Status|Message)/.test(line))),
    [
      ['HelmRelease: web', 'Revision: 1.2.0', ''],
      ['HelmChart: flux-system-web', 'Chart: web', 'Version: 1.x', 'Revision: none', ''],
      ['HelmRepository: charts', 'URL: https://charts.example.com', 'Revision: none', ''],
    ],
  )
})

test('events are those about objects of Flux', async (t) => {
  const { hub, client, input } = await started(t)
  const event = (name: string, kind: string, type: string, apiVersion: string) =>
    client.create(
      Event,
      build(Event, `${NS}/${name}`, {
        involvedObject: { apiVersion, kind, name: 'apps', namespace: NS },
        reason: 'Reason',
        message: `about ${kind}`,
        type,
        count: 2,
        lastTimestamp: '2026-01-01T00:00:00Z',
      }),
    )
  await event('a', 'Kustomization', 'Warning', 'kustomize.toolkit.fluxcd.io/v1')
  await event('b', 'GitRepository', 'Normal', 'source.toolkit.fluxcd.io/v1')
  await event('c', 'Deployment', 'Normal', 'apps/v1')
  const objects = (): string[] =>
    hub
      .taken()
      .out.trimEnd()
      .split('\n')
      .slice(1)
      .map((line) => line.split(/ {2,}/)[3]!)
      .sort()
  await fluxEvents(input())
  assert.deepEqual(objects(), ['GitRepository/apps', 'Kustomization/apps'])
  await fluxEvents(input({ for: 'kustomization/apps' }))
  assert.deepEqual(objects(), ['Kustomization/apps'])
  await fluxEvents(input({ types: ['Normal'] }))
  assert.deepEqual(objects(), ['GitRepository/apps'])
  const told = async (flags: FluxLogsInput['flags']) => {
    await fluxLogs({ ...input(), flags })
    return hub.taken().out
  }
  assert.equal(
    await told({ level: 'error' }),
    '2026-01-01T00:00:00Z error Kustomization/apps.flux-system - about Kustomization\n',
  )
  const info = '2026-01-01T00:00:00Z info GitRepository/apps.flux-system - about GitRepository\n'
  assert.equal(await told({ kind: 'gitrepository', name: 'apps' }), info)
  assert.equal((await told({})).split('\n').length, 3)
  assert.equal((await told({ tail: '1' })).split('\n').length, 2)
  assert.equal(await told({ since: '1h' }), '', 'the events are older')
  assert.equal(await told({ name: 'other' }), '')
  assert.match(await expectErrorText(told({ tail: '0' })), /invalid --tail "0"/)
  await fluxEvents(input({ namespace: 'none' }))
  assert.deepEqual(hub.taken(), { out: '', err: 'no events found in none namespace\n' })
  assert.match(await expectErrorText(fluxEvents(input({ for: 'apps' }))), /invalid --for "apps": must be KIND\/NAME/)
})
