/**
 * Hooks of a chart on a real cluster, where Jobs are run by the controller manager; and an agent that is killed at
 * every step it writes down.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createClient } from '../../client/create-client.ts'
import { utf8 } from '../../core/bytes.ts'
import { systemClock } from '../../core/time/system-clock.ts'
import { systemIds } from '../../core/system-ids.ts'
import { ConfigMap } from '../../kinds/builtin/core.ts'
import { builtinKind } from '../../kinds/builtin/kind-table.ts'
import type { ResourceType, UnknownObject } from '../../kinds/meta.ts'
import { renderVariant } from '../../render/bundle/render-variant.ts'
import { startControlPlane } from '../../testing/control-plane/control-plane.ts'
import type { ControlPlane } from '../../testing/control-plane/control-plane.ts'
import { clusterOf, createOperatingAgent } from '../../testing/agents/operating-agent.ts'
import type { OperatingAgent } from '../../testing/agents/operating-agent.ts'
import { configMap, hookJob } from '../../testing/hub/test-hub.ts'

const JOBS = builtinKind('batch/v1', 'Job') as unknown as ResourceType
const ENTROPY = { randomBytes: (n: number) => new Uint8Array(n), now: () => 0, generateKey: () => '' }

const chart: Readonly<Record<string, string>> = {
  'Chart.yaml': 'apiVersion: v2\nname: shop\nversion: 1.0.0\n',
  'values.yaml': 'version: "1"\nbroken: false\n',
  'templates/config.yaml':
    'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: shop}\ndata: {version: {{ .Values.version | quote }}}\n',
  'templates/web.yaml': `apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: "web:{{ .Values.version }}"}]}
`,
  'templates/hooks.yaml': `{{- define "job" }}
spec:
  backoffLimit: 0
  template: {spec: {restartPolicy: Never, containers: [{name: main, image: job}]}}
{{- end }}
apiVersion: batch/v1
kind: Job
metadata:
  name: migrate
  annotations: {helm.sh/hook: "pre-install,pre-upgrade", helm.sh/hook-weight: "1"}
{{- if .Values.broken }}
spec:
  activeDeadlineSeconds: 1
  template: {spec: {nodeSelector: {no: where}, restartPolicy: Never, containers: [{name: main, image: job}]}}
{{- else }}
{{- template "job" }}
{{- end }}
---
apiVersion: batch/v1
kind: Job
metadata: {name: greet, annotations: {helm.sh/hook: post-upgrade, helm.sh/hook-delete-policy: hook-succeeded}}
{{- template "job" }}
---
apiVersion: batch/v1
kind: Job
metadata: {name: goodbye, annotations: {helm.sh/hook: pre-delete}}
{{- template "job" }}
`,
}

function rendered(values: Readonly<Record<string, unknown>>): readonly UnknownObject[] {
  const files = new Map(Object.entries(chart).map(([path, text]) => [path, utf8(text)]))
  const cluster = { name: 'c', labels: {}, annotations: {}, claims: {}, values: {} }
  const recipe = { bundle: 'default/shop', helm: { values } }
  const { result } = renderVariant(recipe, cluster, { files, entropy: ENTROPY, frozen: {} })
  assert.ok(result.ok === true, JSON.stringify(result))
  return result.objects
}

describe('hooks on a real cluster', () => {
  let plane: ControlPlane
  let cluster: Awaited<ReturnType<typeof clusterOf>>
  let client: ReturnType<typeof createClient>
  let agent: OperatingAgent
  /** Writes of the agent's own state, Jobs that were made, and when everything stops. */
  const seen = { steps: 0, jobs: [] as string[], killAfter: Number.POSITIVE_INFINITY, isDead: false }

  before(async () => {
    plane = await startControlPlane({ controllers: true, nodes: 1 })
    cluster = await clusterOf(plane.kubeconfigPath)
    client = createClient({ transport: cluster.transport, clock: systemClock })
    const transport: typeof cluster.transport = async (request, signal) => {
      if (seen.isDead) throw new Error('killed')
      const isWrite = request.method !== 'GET' && !request.path.includes('dryRun=All')
      const answer = await cluster.transport(request, signal)
      if (isWrite && request.method === 'POST' && request.path.includes('/jobs')) seen.jobs.push(request.path)
      if (!isWrite || !request.path.includes('/namespaces/flotilla-agent/')) return answer
      seen.steps += 1
      if (seen.steps < seen.killAfter) return answer
      seen.isDead = true
      throw new Error('killed')
    }
    agent = createOperatingAgent({ transport, clock: systemClock, ids: systemIds })
    agent.start()
  })

  after(async () => {
    await agent.stop()
    await cluster.close()
    await plane.stop()
  })

  async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
    const end = systemClock.monotonicMs() + 180_000
    while (!(await holds())) {
      if (systemClock.monotonicMs() > end) throw new Error(`${what}: ${JSON.stringify(agent.row('default/shop'))}`)
      await sleep(50)
    }
  }
  const rowIs =
    (bundle: string, generation: number, state = 'Ready') =>
    () =>
      agent.row(bundle)?.generation === generation && agent.row(bundle)?.state === state
  const job = (name: string) => client.get(JOBS, { namespace: 'default', name }).catch(() => undefined)
  const version = async () =>
    (await client.get(ConfigMap, { namespace: 'default', name: 'shop' }).catch(() => undefined))?.data?.['version']

  it('run at their moments: before an install, after an upgrade, and before a removal', async () => {
    await agent.assign({ 'default/shop': { generation: 1, objects: rendered({}) } })
    await until('install', rowIs('default/shop', 1))
    const first = (await job('migrate'))!.metadata.uid
    assert.equal(await job('greet'), undefined)
    await agent.assign({ 'default/shop': { generation: 2, objects: rendered({ version: '2' }) } })
    await until('upgrade', rowIs('default/shop', 2))
    assert.notEqual((await job('migrate'))!.metadata.uid, first, 'made anew for the next operation')
    assert.equal(seen.jobs.length, 3, 'migrate twice, greet once')
    await until('cleaned', async () => (await job('greet')) === undefined)
  })

  it('that fail are answered as the bundle says: what ran before runs again', async () => {
    const options = { remediation: { upgrade: 'RollBack' } } as const
    const objects = rendered({ version: '3', broken: true })
    await agent.assign({ 'default/shop': { generation: 3, objects, options } })
    await until('roll back', () => agent.row('default/shop')?.message?.startsWith('rolled back to') === true)
    assert.equal(agent.row('default/shop')?.state, 'Failed')
    assert.match(agent.row('default/shop')?.message ?? '', /pre-upgrade hook Job default\/migrate failed: .*deadline/i)
    assert.equal(await version(), '2')
    await agent.assign({ 'default/shop': { generation: 4, objects: rendered({ version: '4' }), options } })
    await until('the next one', rowIs('default/shop', 4))
    const made = seen.jobs.length
    await agent.assign({}, { tombstones: [{ bundle: 'default/shop', generation: 5, policy: 'Delete' }] })
    await until('removal', async () => (await version()) === undefined && (await job('migrate')) === undefined)
    assert.equal(seen.jobs.length, made + 1, 'goodbye')
  })

  it('run once, and the agent converges, killed after every step it writes down', async (t) => {
    const story = async (name: string) => {
      const bundle = `default/${name}`
      const hooks = [
        hookJob(`${name}-pre`, { 'helm.sh/hook': 'pre-install' }),
        hookJob(`${name}-post`, { 'helm.sh/hook': 'post-upgrade' }),
      ]
      const through = async (what: string, holds: () => boolean | Promise<boolean>) => {
        await until(`${name} ${what}`, async () => seen.isDead || (await holds()))
        if (!seen.isDead) return
        await agent.stop()
        seen.killAfter = Number.POSITIVE_INFINITY
        seen.isDead = false
        agent.start()
        await until(`${name} ${what} after the kill`, holds)
      }
      await agent.assign({ [bundle]: { generation: 1, objects: [configMap(name, { v: '1' }), ...hooks] } })
      await through('install', rowIs(bundle, 1))
      const next = [configMap(name, { v: '2' }), configMap(`${name}-new`), ...hooks]
      await agent.assign({ [bundle]: { generation: 2, objects: next } })
      await through('upgrade', rowIs(bundle, 2))
      const { data } = await client.get(ConfigMap, { namespace: 'default', name })
      assert.deepEqual(data, { v: '2' }, name)
      const tombstones = [{ bundle, generation: 3, policy: 'Delete' as const }]
      await agent.assign({}, { tombstones })
      const isGone = async () => {
        const { items } = await client.list(ConfigMap, { namespace: 'default', limit: 100 })
        const left = items.filter(({ metadata }) => metadata.name.startsWith(name))
        return left.length === 0 && (await job(`${name}-pre`)) === undefined
      }
      await through('removal', isGone)
    }
    const from = { steps: seen.steps, jobs: seen.jobs.length }
    await story('calm')
    const steps = seen.steps - from.steps
    assert.equal(seen.jobs.length - from.jobs, 2)
    assert.ok(steps >= 12, `${steps} steps`)
    t.diagnostic(`${steps} steps`)
    for (let kill = 1; kill <= steps; kill++) {
      const made = seen.jobs.length
      seen.killAfter = seen.steps + kill
      await story(`kill${kill}x`)
      assert.equal(seen.jobs.length - made, 2, `killed after step ${kill} of ${steps}`)
    }
  })
})
