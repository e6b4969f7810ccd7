/** A chart that looks at its cluster, on a real one: values, lookup, rights and the thread are real. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createClient } from '../../client/create-client.ts'
import { isApiError } from '../../core/errors.ts'
import type { HttpRequest } from '../../core/http.ts'
import { systemClock } from '../../core/time/system-clock.ts'
import { systemIds } from '../../core/system-ids.ts'
import { ConfigMap, Namespace, Secret, ServiceAccount } from '../../kinds/builtin/core.ts'
import { Role, RoleBinding } from '../../kinds/builtin/rbac.ts'
import { chartContent, configMapTemplate } from '../../testing/fixtures/chart-content.ts'
import { startControlPlane } from '../../testing/control-plane/control-plane.ts'
import type { ControlPlane } from '../../testing/control-plane/control-plane.ts'
import { clusterOf, createOperatingAgent } from '../../testing/agents/operating-agent.ts'
import type { OperatingAgent } from '../../testing/agents/operating-agent.ts'
import { renderInThreads } from './render-in-threads.ts'

const BUNDLE = 'default/app'
const RBAC = 'rbac.authorization.k8s.io'
const template = configMapTemplate(
  '{{ .Values.color }} {{ .Values.db.password }} {{ randAlphaNum 8 }} {{ (lookup "v1" "ConfigMap" "shop" "looked").data.n }} {{ .Capabilities.APIVersions.Has "apps/v1/Deployment" }}',
)
const content = chartContent(
  { 'cm.yaml': template },
  {
    targetNamespace: 'shop',
    helm: {
      valuesFrom: [
        { kind: 'ConfigMap', name: 'site' },
        { kind: 'Secret', name: 'db', key: 'password', targetPath: 'db.password' },
      ],
    },
  },
)

describe('a chart that looks at a real cluster', () => {
  let plane: ControlPlane
  let close: () => Promise<void>
  let agent: OperatingAgent
  let client: ReturnType<typeof createClient>
  const requests: HttpRequest[] = []
  const start = { render: renderInThreads(systemClock) }

  before(async () => {
    plane = await startControlPlane()
    const cluster = await clusterOf(plane.kubeconfigPath)
    close = cluster.close
    client = createClient({ transport: cluster.transport, clock: systemClock })
    agent = createOperatingAgent({
      ...start,
      transport: (request, signal) => {
        requests.push(request)
        return cluster.transport(request, signal)
      },
      clock: systemClock,
      ids: systemIds,
    })
    const named = (name: string) => ({ name, namespace: 'shop' })
    await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } })
    await client.create(ServiceAccount, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: named('deployer') })
    await client.create(Role, {
      apiVersion: `${RBAC}/v1`,
      kind: 'Role',
      metadata: named('deployer'),
      rules: [
        { apiGroups: [''], resources: ['configmaps'], verbs: ['*'] },
        { apiGroups: [''], resources: ['secrets'], resourceNames: ['db'], verbs: ['get', 'list', 'watch'] },
      ],
    })
    await client.create(RoleBinding, {
      apiVersion: `${RBAC}/v1`,
      kind: 'RoleBinding',
      metadata: named('deployer'),
      roleRef: { apiGroup: RBAC, kind: 'Role', name: 'deployer' },
      subjects: [{ kind: 'ServiceAccount', name: 'deployer', namespace: 'shop' }],
    })
    for (const [name, data] of [
      ['site', { 'values.yaml': 'color: blue' }],
      ['looked', { n: '7' }],
    ] as const) {
      await client.create(ConfigMap, { apiVersion: 'v1', kind: 'ConfigMap', metadata: named(name), data: { ...data } })
    }
    agent.start()
  })

  after(async () => {
    await agent.stop()
    await close()
    await plane.stop()
  })

  const made = async () =>
    (
      await client.get(ConfigMap, { namespace: 'shop', name: 'app' }).catch((caught: unknown) => {
        if (!isApiError(caught, 'NotFound')) throw caught
        return undefined
      })
    )?.data?.['v']
  async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
    const end = systemClock.monotonicMs() + 120_000
    while (!(await holds())) {
      if (systemClock.monotonicMs() > end) throw new Error(`${what}: ${JSON.stringify(agent.row(BUNDLE))}`)
      await sleep(50)
    }
  }

  it('waits for its password, is rendered as its executor, and again when that changes', async () => {
    const options = { executor: { namespace: 'shop', name: 'deployer' } }
    await agent.assign({ [BUNDLE]: { generation: 1, content, options } })
    await until('the missing Secret is named', () =>
      /names key password of Secret shop\/db: not found/.test(agent.row(BUNDLE)?.message ?? ''),
    )
    const metadata = { name: 'db', namespace: 'shop' }
    await client.create(Secret, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata,
      stringData: { password: '0815' },
    })
    await until('ready', () => agent.row(BUNDLE)?.state === 'Ready')
    const [color, password, random, looked, has] = (await made())!.split(' ')
    assert.deepEqual([color, password, looked, has], ['blue', '0815', '7', 'true'])
    await client.patch(Secret, metadata, { type: 'merge', body: { stringData: { password: '4711' } } })
    await until('the new password arrives', async () => (await made())?.split(' ')[1] === '4711')
    await agent.stop()
    agent.start()
    await client.delete(ConfigMap, { namespace: 'shop', name: 'app' })
    await until('repaired after a restart', async () => (await made()) === `blue 4711 ${random} 7 true`)
    const reads = requests.filter(
      ({ method, path }) => method === 'GET' && /namespaces\/shop\/(secrets|configmaps)/.test(path),
    )
    assert.ok(reads.length > 0)
    for (const { path, headers } of reads) {
      assert.equal(headers['impersonate-user'], 'system:serviceaccount:shop:deployer', path)
    }
  })
})
