/** Proves a running demo: join, apply, report, and what people see of it. */
import { fieldManager } from '../../agent/cluster/field-manager.ts'
import type { Client } from '../../client/client.ts'
import { linesOf } from '../../client/watch-stream.ts'
import type { Clock } from '../../core/time/clock.ts'
import { isApiError, toError } from '../../core/errors.ts'
import { decodeFleet } from '../../hub/console/fleet-row.ts'
import type { FleetDelta, FleetSnapshot } from '../../hub/console/fleet-row.ts'
import { ClusterReport } from '../../kinds/native/cluster-report.ts'
import { Cluster } from '../../kinds/native/cluster.ts'
import { keyOf } from '../../kinds/meta.ts'
import type { KubeObject, ResourceType, UnknownObject } from '../../kinds/meta.ts'
import { Rollout } from '../../kinds/native/rollout.ts'
import type { EmbeddedCluster } from '../fleet/embedded-cluster.ts'
import { DEMO_BUNDLE, DEMO_OBJECTS } from './content.ts'
import type { Demo } from './demo.ts'

/** What the check needs from the world. */
export interface CheckPorts {
  readonly clock: Clock
  /** Ends the check; its reason says why. */
  readonly signal: AbortSignal
  /** Hears each proven step. */
  readonly proven: (what: string) => void
  /** What `flotilla get clusters` prints. */
  readonly getClusters: () => Promise<string>
}

const POLL_MS = 100

/** Runs all checks. Throws the first failure. */
export async function checkDemo(demo: Demo, ports: CheckPorts): Promise<void> {
  const { hub, sites } = demo
  const names = sites.map(({ store }) => store.name)
  const count = `${names.length} of ${names.length} clusters`
  const { proven } = ports

  await eventually(ports, 'join', async () => {
    const { items } = await hub.client.list(Cluster)
    const missing = names.filter((name) => {
      const cluster = items.find(({ metadata }) => metadata.name === name)
      return !cluster?.spec.accepted || cluster.status?.certificate === undefined
    })
    return missing.length === 0 ? undefined : `no certificate yet: ${missing.join(', ')}`
  })
  proven(`join: ${count} enrolled with their tokens and have a certificate`)

  for (const { cluster } of sites) await eventually(ports, `apply on ${cluster.name}`, () => unapplied(cluster))
  proven(`apply: ${count} run Deployment ${DEMO_OBJECTS.deployment}, applied by ${fieldManager(keyOf(DEMO_BUNDLE))}`)

  await eventually(ports, 'report', async () => {
    const reports = (await hub.client.list(ClusterReport)).items
    const wrong = names.filter((name) => {
      const rows = reports.find(({ metadata }) => metadata.name === name)?.spec.bundles ?? []
      return !rows.some(({ bundle, state }) => bundle === keyOf(DEMO_BUNDLE) && state === 'Ready')
    })
    return wrong.length === 0 ? undefined : `not reported Ready: ${wrong.join(', ')}`
  })
  await eventually(ports, 'rollout', async () => {
    const { items } = await hub.client.list(Rollout, { namespace: DEMO_BUNDLE.metadata.namespace! })
    const phases = items.map(({ metadata, status }) => `${metadata.name} is ${status?.phase ?? 'new'}`)
    const isDone = items.length > 1 && items.every(({ status }) => status?.phase === 'Completed')
    return isDone ? undefined : phases.join(', ') || 'no rollout'
  })
  proven(`report: ${count} say Ready, the rollouts are Completed`)

  await eventually(ports, 'get', async () => {
    const lines = (await ports.getClusters()).split('\n')
    const wrong = names.filter((name) => !lines.some((line) => line.startsWith(`${name} `) && / Ready /.test(line)))
    return wrong.length === 0 ? undefined : `flotilla get clusters does not show as Ready: ${wrong.join(', ')}`
  })
  proven(`get: flotilla get clusters shows ${count} Ready`)

  await checkPage(demo, ports)
  proven('page: signed in with the one-time code, the stream shows them and follows a change')
}

const CONFIG_MAP = typeOf('', 'ConfigMap', 'configmaps')
const DEPLOYMENT = typeOf('apps', 'Deployment', 'deployments')

/** What is still missing on a cluster; undefined when all is there. */
async function unapplied({ client }: EmbeddedCluster): Promise<string | undefined> {
  const { namespace } = DEMO_OBJECTS
  const configMap = await find(client, CONFIG_MAP, { namespace, name: DEMO_OBJECTS.configMap })
  if (!configMap) return `no ConfigMap ${DEMO_OBJECTS.configMap}`
  const deployment = await find(client, DEPLOYMENT, { namespace, name: DEMO_OBJECTS.deployment })
  if (!deployment) return `no Deployment ${DEMO_OBJECTS.deployment}`
  const wanted = fieldManager(keyOf(DEMO_BUNDLE))
  for (const object of [configMap, deployment]) {
    const managers = (object.metadata.managedFields ?? []).filter(({ operation }) => operation === 'Apply')
    if (!managers.some(({ manager }) => manager === wanted)) {
      return `${object.kind} ${object.metadata.name} is not applied by ${wanted}`
    }
  }
  const conditions = (deployment as DeploymentLike).status?.conditions ?? []
  const isAvailable = conditions.some(({ type, status }) => type === 'Available' && status === 'True')
  return isAvailable ? undefined : `Deployment ${DEMO_OBJECTS.deployment} is not available`
}

interface DeploymentLike extends KubeObject {
  status?: { conditions?: { type: string; status: string }[] }
}

async function checkPage({ hub, sites }: Demo, ports: CheckPorts): Promise<void> {
  const { clock, signal } = ports
  const address = new URL(hub.signInUrl())
  const signedIn = await fetch(address, { signal })
  const cookie = signedIn.headers.get('set-cookie')?.split(';')[0]
  if (!signedIn.ok || !cookie) throw new Error(`page: signing in was answered with ${signedIn.status}`)
  let from = ''
  await eventually(ports, 'page', async () => {
    const asked = await fetch(new URL('/console/fleet', address), { headers: { cookie }, signal })
    if (!asked.ok) return `the list of clusters was answered with ${asked.status}`
    const fleet = (await asked.json()) as FleetSnapshot
    from = `${fleet.epoch}-${fleet.revision}`
    const ready = decodeFleet(fleet).filter(({ state }) => state === 'Ready').length
    return ready === sites.length ? undefined : `the list shows ${ready} clusters as Ready`
  })
  const ended = new AbortController()
  const events = new URL(`/console/events?from=${from}`, address)
  const stream = await fetch(events, { headers: { cookie }, signal: AbortSignal.any([signal, ended.signal]) })
  if (!stream.ok || !stream.body) throw new Error(`page: the stream was answered with ${stream.status}`)
  const mark = `seen-${Math.round(clock.now() / 1000)}`
  const labels = { 'demo-check': mark }
  await hub.client.patch(Cluster, { name: sites[0]!.store.name }, { type: 'merge', body: { metadata: { labels } } })
  try {
    let event = ''
    for await (const line of linesOf(stream.body)) {
      if (line.startsWith('event: ')) event = line.slice('event: '.length)
      if (event !== 'fleet' || !line.startsWith('data: ')) continue
      const { rows } = JSON.parse(line.slice('data: '.length)) as FleetDelta
      if (rows.some((row) => row.labels['demo-check'] === mark)) return
    }
  } finally {
    ended.abort()
  }
  throw new Error('page: the stream of events ended')
}

async function eventually(ports: CheckPorts, what: string, missing: () => Promise<string | undefined>): Promise<void> {
  const { clock, signal } = ports
  let last: string | undefined
  for (;;) {
    last = await missing().catch((caught: unknown) => toError(caught).message)
    if (last === undefined) return
    if (signal.aborted) throw new Error(`${what}: ${last}`)
    await clock.sleep(POLL_MS, signal).catch(() => {}) // aborted: one last look says what is missing
  }
}

async function find(
  client: Client,
  type: ResourceType,
  key: { readonly namespace: string; readonly name: string },
): Promise<UnknownObject | undefined> {
  try {
    return await client.get(type, key)
  } catch (caught) {
    if (isApiError(caught, 'NotFound')) return undefined
    throw caught
  }
}

function typeOf(group: string, kind: string, plural: string): ResourceType {
  return { group, version: 'v1', kind, plural, scope: 'Namespaced' }
}
