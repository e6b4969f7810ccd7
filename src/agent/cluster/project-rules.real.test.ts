/** The limits of Projects on a real kube-apiserver: scopes, impersonation and server-side apply are its own. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createClient } from '../../client/create-client.ts'
import { isApiError } from '../../core/errors.ts'
import { systemClock } from '../../core/time/system-clock.ts'
import { systemIds } from '../../core/system-ids.ts'
import { ConfigMap, ServiceAccount } from '../../kinds/builtin/core.ts'
import { ClusterRole, Role, RoleBinding } from '../../kinds/builtin/rbac.ts'
import { clusterOf, createOperatingAgent } from '../../testing/agents/operating-agent.ts'
import type { OperatingAgent } from '../../testing/agents/operating-agent.ts'
import { startControlPlane } from '../../testing/control-plane/control-plane.ts'
import type { ControlPlane } from '../../testing/control-plane/control-plane.ts'
import { configMap } from '../../testing/hub/test-hub.ts'
import type { DocumentProject } from '../../wire/document/cluster-document.ts'

const BUNDLE = 'team-a/app'
const executor = { namespace: 'default', name: 'deployer' }
const project = (more: Partial<DocumentProject>) => ({
  rules: { projects: [{ name: 'team-a', namespaces: ['team-a'], ownRights: false, ...more }] },
})

describe('Projects on a real cluster', () => {
  let plane: ControlPlane
  let close: () => Promise<void>
  let agent: OperatingAgent
  let client: ReturnType<typeof createClient>

  before(async () => {
    plane = await startControlPlane()
    const cluster = await clusterOf(plane.kubeconfigPath)
    client = createClient({ transport: cluster.transport, clock: systemClock })
    agent = createOperatingAgent({ transport: cluster.transport, clock: systemClock, ids: systemIds })
    agent.start()
    close = cluster.close
  })

  after(async () => {
    await agent.stop()
    await close()
    await plane.stop()
  })

  async function until(state: string, generation: number, says: RegExp): Promise<void> {
    const end = systemClock.monotonicMs() + 60_000
    for (;;) {
      const row = agent.row(BUNDLE)
      if (row?.state === state && row.generation === generation && says.test(row.message ?? '')) return
      if (systemClock.monotonicMs() > end) throw new Error(`${state} ${says}: ${JSON.stringify(row)}`)
      await sleep(50)
    }
  }

  it('content runs as the executor of the Project, and own rights are refused', async () => {
    const grant = { namespace: 'default', name: 'deployer' }
    await client.create(ServiceAccount, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: grant })
    const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['*'] }]
    await client.create(Role, { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', metadata: grant, rules })
    await client.create(RoleBinding, {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata: grant,
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'deployer' },
      subjects: [{ kind: 'ServiceAccount', ...grant }],
    })
    const objects = [configMap('app', { v: '1' })]
    const limits = project({ defaultExecutor: 'default/deployer', executors: [] })
    await agent.assign({ [BUNDLE]: { generation: 1, objects } }, limits)
    await until('Failed', 1, /^Project team-a: spec\.executors\.default is default\/deployer, and the content was/)
    await agent.assign({ [BUNDLE]: { generation: 2, objects, options: { executor } } }, limits)
    await until('Ready', 2, /^$/)
    const made = await client.get(ConfigMap, { namespace: 'default', name: 'app' })
    assert.deepEqual(made.data, { v: '1' })
  })

  it('a ClusterRole with a namespace in its manifest is no way around the target namespaces', async () => {
    const role = {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: 'everything', namespace: 'default' },
      rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }],
    }
    const limits = project({ targetNamespaces: ['default'], ownRights: true })
    await agent.assign({ [BUNDLE]: { generation: 3, objects: [configMap('app', { v: '3' }), role] } }, limits)
    await until('Failed', 3, /ClusterRole everything has no namespace/)
    await assert.rejects(client.get(ClusterRole, { name: 'everything' }), (caught) => isApiError(caught, 'NotFound'))
    const kept = await client.get(ConfigMap, { namespace: 'default', name: 'app' })
    assert.deepEqual(kept.data, { v: '1' }, 'nothing of refused content is written')
  })
})
