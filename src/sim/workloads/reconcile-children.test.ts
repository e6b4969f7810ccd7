import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseTime } from '../../core/time/time.ts'
import { builtinKind } from '../../kinds/builtin/kind-table.ts'
import { itemsAt, numberAt, textAt } from '../../kinds/builtin/read-path.ts'
import type { ResourceType, UnknownObject } from '../../kinds/meta.ts'
import { parseCron } from '../../plan/windows/cron.ts'
import { startWorkloadCluster } from '../../testing/agents/workload-cluster.ts'
import { ControllerRevision, Pod, ReplicaSet } from './children.ts'
import { CronJob, Job, lastDue } from './cron-job.ts'
import { EndpointSlice } from './endpoint-slices.ts'

const labels = { app: 'web' }
const template = (image: string, more: object = {}) => ({
  metadata: { labels },
  spec: { containers: [{ name: 'web', image }], ...more },
})
const workload = (kind: string, image: string, more: object = {}): UnknownObject => ({
  apiVersion: 'apps/v1',
  kind,
  metadata: { name: 'web', namespace: 'default' },
  spec: { selector: { matchLabels: labels }, template: template(image), ...more },
})

function started(t: { after(fn: () => Promise<void>): void }) {
  const { clock, cluster } = startWorkloadCluster(t, { parts: true })
  const { client } = cluster
  return {
    clock,
    client,
    apply: async (type: ResourceType, object: UnknownObject): Promise<void> => {
      await client.apply(type, object, { fieldManager: 'test', force: true })
      await clock.advance(3_000)
    },
    list: async (type: ResourceType) => (await client.list(type)).items,
  }
}

const kindOf = (kind: string) => builtinKind<UnknownObject>('apps/v1', kind)
const imageOf = (object: UnknownObject, spec = 'spec') => textAt(itemsAt(object, `${spec}.containers`)[0], 'image')
const setText = (set: UnknownObject) =>
  `${set.metadata.annotations?.['deployment.kubernetes.io/revision']}: ${numberAt(set, 'spec.replicas')} of ${imageOf(set, 'spec.template.spec')}`

test('a Deployment has a ReplicaSet for each content, pods of the newest, and a way back', async (t) => {
  const { client, clock, apply, list } = started(t)
  const Deployment = kindOf('Deployment')
  const key = { name: 'web', namespace: 'default' }
  const sets = async () => (await list(ReplicaSet)).map(setText).sort()
  await apply(Deployment, workload('Deployment', 'web:1', { replicas: 2 }))
  assert.deepEqual(await sets(), ['1: 2 of web:1'])
  const [set] = await list(ReplicaSet)
  const hash = set!.metadata.labels!['pod-template-hash']!
  assert.equal(set!.metadata.name, `web-${hash}`)
  const pods = await list(Pod)
  assert.equal(pods.length, 2)
  for (const { metadata, status } of pods) {
    assert.match(metadata.name, new RegExp(`^web-${hash}-[a-z0-9]{5}$`))
    assert.equal(metadata.labels?.['pod-template-hash'], hash)
    assert.deepEqual(
      metadata.ownerReferences?.map(({ kind, name, controller }) => [kind, name, controller]),
      [['ReplicaSet', set!.metadata.name, true]],
    )
    assert.equal(textAt(status, 'phase'), 'Running')
  }

  await apply(Deployment, workload('Deployment', 'web:2', { replicas: 2 }))
  assert.deepEqual(await sets(), ['1: 0 of web:1', '2: 2 of web:2'])
  assert.deepEqual(new Set((await list(Pod)).map((pod) => imageOf(pod))), new Set(['web:2']))
  await apply(Deployment, workload('Deployment', 'web:1', { replicas: 3 }))
  assert.deepEqual(await sets(), ['2: 0 of web:2', '3: 3 of web:1'])
  const back = (await list(ReplicaSet)).find((one) => one.metadata.name === `web-${hash}`)
  assert.equal(back?.metadata.annotations?.['deployment.kubernetes.io/revision-history'], '1')
  const deployment = await client.get(Deployment, key)
  assert.equal(deployment.metadata.annotations?.['deployment.kubernetes.io/revision'], '3')
  assert.equal(deployment.metadata.generation, 3, 'what the simulator notes is no new content')

  const [victim] = await list(Pod)
  await client.delete(Pod, { name: victim!.metadata.name, namespace: 'default' })
  await clock.advance(3_000)
  const after = (await list(Pod)).map(({ metadata }) => metadata.name)
  assert.equal(after.length, 3)
  assert.ok(!after.includes(victim!.metadata.name))

  await client.delete(Deployment, key, { propagationPolicy: 'Background' })
  await clock.advance(10_000)
  assert.deepEqual([(await list(ReplicaSet)).length, (await list(Pod)).length], [0, 0])
})

test('a StatefulSet has pods with numbers, a DaemonSet one, and both keep what they were', async (t) => {
  const { apply, list } = started(t)
  const names = async () => (await list(Pod)).map(({ metadata }) => metadata.name).sort()
  const StatefulSet = kindOf('StatefulSet')
  const stateful = (image: string) => workload('StatefulSet', image, { replicas: 2, serviceName: 'web' })
  await apply(StatefulSet, stateful('web:1'))
  assert.deepEqual(await names(), ['web-0', 'web-1'])
  await apply(StatefulSet, stateful('web:2'))
  assert.deepEqual(await names(), ['web-0', 'web-1'])
  assert.deepEqual(new Set((await list(Pod)).map((pod) => imageOf(pod))), new Set(['web:2']))
  const revisions = async (owner: string) =>
    (await list(ControllerRevision))
      .filter(({ metadata }) => metadata.ownerReferences?.[0]?.kind === owner)
      .map((one) => numberAt(one, 'revision'))
      .sort((a, b) => a - b)
  assert.deepEqual(await revisions('StatefulSet'), [1, 2])
  await apply(StatefulSet, stateful('web:1'))
  assert.deepEqual(await revisions('StatefulSet'), [2, 3])

  await apply(kindOf('DaemonSet'), {
    ...workload('DaemonSet', 'web:1'),
    metadata: { name: 'each', namespace: 'default' },
  })
  assert.equal((await names()).filter((name) => /^each-[a-z0-9]{5}$/.test(name)).length, 1)
  assert.deepEqual(await revisions('DaemonSet'), [1])
})

test('a Service has an EndpointSlice with the pods behind it, on the ports they have', async (t) => {
  const { client, clock, apply, list } = started(t)
  const Service = builtinKind<UnknownObject>('v1', 'Service')
  const metadata = { name: 'web', namespace: 'default', labels: { team: 'shop' } }
  const ports = [
    { name: 'http', port: 80, targetPort: 'http' },
    { name: 'debug', port: 99 },
  ]
  const service = { apiVersion: 'v1', kind: 'Service', metadata, spec: { selector: labels, ports } }
  await apply(Service, service)
  // The API has one of its own.
  const slices = async () => (await list(EndpointSlice)).filter(({ metadata }) => metadata.name !== 'kubernetes')
  const seen = async () =>
    (await slices()).map((slice) => [
      itemsAt(slice, 'ports').map((it) => `${textAt(it, 'name')}:${textAt(it, 'port')}/${textAt(it, 'protocol')}`),
      itemsAt(slice, 'endpoints').map((one) => `${textAt(one, 'targetRef.name')} ${textAt(one, 'conditions.ready')}`),
    ])
  assert.deepEqual(await seen(), [[[], []]])
  const [empty] = await slices()
  assert.match(empty!.metadata.name, /^web-[a-z0-9]{5}$/)
  assert.deepEqual(empty!.metadata.labels, {
    team: 'shop',
    'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
    'kubernetes.io/service-name': 'web',
  })
  assert.equal(empty!.metadata.ownerReferences?.[0]?.uid, (await client.get(Service, metadata)).metadata.uid)

  const listening = [{ name: 'web', image: 'web:1', ports: [{ name: 'http', containerPort: 8080 }] }]
  const spec = { replicas: 2, serviceName: 'web', template: template('web:1', { containers: listening }) }
  await apply(kindOf('StatefulSet'), workload('StatefulSet', 'web:1', spec))
  const expected = ['http:8080/TCP', 'debug:99/TCP']
  assert.deepEqual(await seen(), [[expected, ['web-0 true', 'web-1 true']]])
  assert.equal((await slices())[0]!.metadata.uid, empty!.metadata.uid, 'the same slice has them now')

  await client.delete(EndpointSlice, { name: empty!.metadata.name, namespace: 'default' })
  await client.patch(
    Pod,
    { name: 'web-0', namespace: 'default' },
    {
      type: 'merge',
      body: { metadata: { labels: { app: 'other' } } },
    },
  )
  await clock.advance(3_000)
  assert.deepEqual(await seen(), [[expected, ['web-1 true']]])
  await client.delete(Service, metadata)
  await clock.advance(10_000)
  assert.deepEqual(await slices(), [])
})

test('a CronJob runs when it is due, its Job has a pod, and old runs go', async (t) => {
  const { clock, client, apply, list } = started(t)
  const jobTemplate = { spec: { template: template('job:1', { restartPolicy: 'Never' }) } }
  const metadata = { name: 'tick', namespace: 'default' }
  const spec = { schedule: '*/2 * * * *', successfulJobsHistoryLimit: 2, jobTemplate }
  await apply(CronJob, { apiVersion: 'batch/v1', kind: 'CronJob', metadata, spec })
  assert.deepEqual(await list(Job), [])
  await clock.advance(2 * 60_000)
  const [run] = await list(Job)
  assert.match(run!.metadata.name, /^tick-\d{8}$/)
  assert.equal(run!.metadata.ownerReferences?.[0]?.kind, 'CronJob')
  const [pod] = await list(Pod)
  assert.equal(pod!.metadata.labels?.['job-name'], run!.metadata.name)
  assert.equal(textAt(pod, 'status.phase'), 'Succeeded')
  await clock.advance(10 * 60_000)
  assert.equal((await list(Job)).length, 2)
  const cronJob = await client.get(CronJob, metadata)
  assert.match(textAt(cronJob, 'status.lastScheduleTime'), /:\d[02468]:00Z$/)
})

test('the last time a schedule was due', () => {
  const due = (schedule: string, since: string, now: string, zone = 'UTC') => {
    const parsed = parseCron(schedule)
    assert.ok(parsed.ok)
    const found = lastDue(parsed.cron, zone, parseTime(`2026-03-0${since}Z`)!, parseTime(`2026-03-0${now}Z`)!)
    return found === undefined ? undefined : (found - parseTime('2026-03-02T00:00:00Z')!) / 60_000
  }
  assert.equal(due('*/5 * * * *', '2T00:01:00', '2T00:04:59'), undefined)
  assert.equal(due('*/5 * * * *', '2T00:01:00', '2T00:05:00'), 5)
  assert.equal(due('*/5 * * * *', '2T00:05:00', '2T00:05:30'), undefined, 'not twice')
  assert.equal(due('*/5 * * * *', '2T00:01:00', '2T00:23:00'), 20, 'what was missed is made up for once')
  assert.equal(due('0 3 * * mon', '1T00:00:00', '2T12:00:00'), 180)
  assert.equal(due('0 3 * * *', '2T00:00:00', '2T12:00:00', 'Europe/Berlin'), 120)
})
