/**
 * What is drift and whose a field is on a real API server, which decides that itself: ignored fields, fields that are
 * taken or shared, webhooks.
 */
import assert from 'node:assert/strict'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createClient } from '../../client/create-client.ts'
import { base64, utf8 } from '../../core/bytes.ts'
import { systemClock } from '../../core/time/system-clock.ts'
import { systemIds } from '../../core/system-ids.ts'
import { Deployment } from '../../kinds/builtin/apps.ts'
import { ConfigMap } from '../../kinds/builtin/core.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import { newAuthority } from '../../testing/control-plane/certificates.ts'
import { startControlPlane } from '../../testing/control-plane/control-plane.ts'
import type { ControlPlane } from '../../testing/control-plane/control-plane.ts'
import { ignoredFieldsContract } from '../../testing/agents/ignored-fields-contract.ts'
import { clusterOf, createOperatingAgent } from '../../testing/agents/operating-agent.ts'
import type { OperatingAgent } from '../../testing/agents/operating-agent.ts'
import { passingClock } from '../../testing/control-plane/real-time-clock.ts'
import { configMap, deployment } from '../../testing/hub/test-hub.ts'

// The agent looks within a second at what changed.
const REST_MS = 2000
const MIRROR = 'mirror.local/'

/** What a webhook of a site may do to a Deployment: other images, a container more, an annotation. */
function mutations({ metadata, spec }: Deployment): object[] {
  const containers = spec?.template?.spec?.containers ?? []
  const at = '/spec/template/spec/containers'
  return [
    ...(metadata.annotations ? [] : [{ op: 'add', path: '/metadata/annotations', value: {} }]),
    { op: 'add', path: '/metadata/annotations/seen', value: 'yes' },
    ...containers.flatMap(({ image = '' }, index) =>
      image.startsWith(MIRROR) ? [] : [{ op: 'replace', path: `${at}/${index}/image`, value: `${MIRROR}${image}` }],
    ),
    ...(containers.some(({ name }) => name === 'proxy')
      ? []
      : [{ op: 'add', path: `${at}/0`, value: { name: 'proxy', image: `${MIRROR}proxy:1` } }]),
  ]
}

/** Serves it, and tells the API server about it. */
async function startWebhook(plane: ControlPlane): Promise<() => void> {
  const authority = newAuthority()
  const { certificate, privateKey } = authority.server()
  const server = createServer({ cert: certificate, key: privateKey }, (request, response) => {
    let text = ''
    request.setEncoding('utf8').on('data', (piece: string) => (text += piece))
    request.on('end', () => {
      const {
        apiVersion,
        kind,
        request: asked,
      } = JSON.parse(text) as {
        apiVersion: string
        kind: string
        request: { uid: string; object: Deployment }
      }
      const patch = base64(utf8(JSON.stringify(mutations(asked.object))))
      const answer = { uid: asked.uid, allowed: true, patchType: 'JSONPatch', patch }
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ apiVersion, kind, response: answer }))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const { status, text } = await plane.call(
    'POST',
    '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations',
    {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'MutatingWebhookConfiguration',
      metadata: { name: 'site' },
      webhooks: [
        {
          name: 'site.example.com',
          admissionReviewVersions: ['v1'],
          sideEffects: 'None',
          clientConfig: { url: `https://127.0.0.1:${port}/`, caBundle: base64(utf8(authority.certificate)) },
          objectSelector: { matchLabels: { changed: 'by-webhook' } },
          rules: [
            { apiGroups: ['apps'], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE'], resources: ['deployments'] },
          ],
        },
      ],
    },
  )
  assert.equal(status, 201, text)
  return () => void server.close()
}

describe('on a real cluster', () => {
  let plane: ControlPlane
  let agent: OperatingAgent
  let client: ReturnType<typeof createClient>
  let close: () => Promise<void>
  const requests: string[] = []
  const until = (what: string, holds: () => boolean | Promise<boolean>) =>
    passingClock.runUntil(holds, { withinMs: 60_000, what })
  const rest = () => sleep(REST_MS)

  before(async () => {
    plane = await startControlPlane()
    const cluster = await clusterOf(plane.kubeconfigPath)
    agent = createOperatingAgent({
      transport: (request, signal) => {
        if (!request.path.includes('watch=true')) requests.push(`${request.method} ${request.path}`)
        return cluster.transport(request, signal)
      },
      clock: systemClock,
      ids: systemIds,
    })
    agent.start()
    client = createClient({ transport: cluster.transport, clock: systemClock })
    close = async () => {
      await agent.stop()
      await cluster.close()
      await plane.stop()
    }
  })
  after(() => close())

  describe('ignored fields', () => ignoredFieldsContract(() => ({ agent, client, until, rest })))

  it('what a bundle takes is its alone, what it shared goes with it, and what another one needs to be whole stays', async () => {
    const isReady = (bundle: string, generation: number) => () =>
      agent.row(bundle)?.state === 'Ready' && agent.row(bundle)?.generation === generation
    const dataOf = async (name: string) => (await client.get(ConfigMap, { namespace: 'default', name })).data
    await client.create(ConfigMap, configMap('taken', { a: '1', b: '1' }), { fieldManager: 'helm' })
    const taker = (generation: number, data: Record<string, string>) => ({
      'default/taker': { generation, objects: [configMap('taken', data)], options: { apply: { force: true } } },
    })
    await agent.assign(taker(1, { a: '1', b: '1' }))
    await until('taken', isReady('default/taker', 1))
    await agent.assign(taker(2, { a: '1' }))
    await until('left out', isReady('default/taker', 2))
    assert.deepEqual(await dataOf('taken'), { a: '1' })

    const options = { health: [{ kind: 'Deployment', ignore: true }] }
    const noted = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'both', namespace: 'default', annotations: { two: '1' } },
    }
    const one = { generation: 1, objects: [configMap('both', { one: '1' }), deployment('both')], options }
    const two = { generation: 1, objects: [configMap('both', { two: '1' }), noted], options }
    await agent.assign({ 'default/one': one })
    await until('one', isReady('default/one', 1))
    await agent.assign({ 'default/one': one, 'default/two': two })
    await until('two', isReady('default/two', 1))
    assert.deepEqual(await dataOf('both'), { one: '1', two: '1' })
    const tombstone = { bundle: 'default/one', generation: 2, policy: 'Delete' as const }
    await agent.assign({ 'default/two': two }, { tombstones: [tombstone] })
    await until('one gone', () =>
      agent.removals().some(({ bundle, state }) => bundle === 'default/one' && state === 'Orphaned'),
    )
    assert.deepEqual(await dataOf('both'), { two: '1' })
    const { spec } = await client.get(Deployment, { namespace: 'default', name: 'both' })
    assert.equal(spec?.template?.spec?.containers?.length, 1, 'a Deployment without containers is none')
  })

  it('what a webhook changes and adds is no drift, and stays through upgrades and repairs', async (t) => {
    t.after(await startWebhook(plane))
    const bundle = 'default/changed'
    const key = { namespace: 'default', name: 'changed' }
    const assign = async (generation: number, image: string) => {
      const object = deployment('changed', image)
      const labelled: UnknownObject = { ...object, metadata: { ...object.metadata, labels: { changed: 'by-webhook' } } }
      const options = { health: [{ kind: 'Deployment', ignore: true }] }
      await agent.assign({ [bundle]: { generation, objects: [labelled], options } })
      const row = () => agent.row(bundle)
      await until(`generation ${generation}`, () => row()?.state === 'Ready' && row()?.generation === generation)
    }
    const now = async () => {
      const { spec } = await client.get(Deployment, key)
      return [spec?.replicas, ...(spec?.template?.spec?.containers ?? []).map(({ name, image }) => `${name}=${image}`)]
    }
    const isQuiet = async (what: string) => {
      await rest()
      requests.length = 0
      await rest()
      assert.deepEqual(requests, [], what)
      assert.equal(agent.row(bundle)?.state, 'Ready')
    }
    await assign(1, 'web:1')
    const expected = (image: string) => [1, `proxy=${MIRROR}proxy:1`, `main=${MIRROR}${image}`]
    assert.deepEqual(await now(), expected('web:1'))
    await isQuiet('after the install')
    await assign(2, 'web:2')
    assert.deepEqual(await now(), expected('web:2'))
    await isQuiet('after an upgrade')
    await client.patch(Deployment, key, { type: 'merge', body: { spec: { replicas: 7 } } }, { fieldManager: 'hand' })
    await until('repair', async () => (await now())[0] === 1)
    assert.deepEqual(await now(), expected('web:2'))
    await isQuiet('after a repair')
    await agent.stop()
    agent.start()
    await until('a restart', () => agent.row(bundle)?.state === 'Ready')
    await isQuiet('after a restart')
  })
})
