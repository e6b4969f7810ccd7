/** Checks on a real API server, also as an executor with few rights. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createClient } from '../../client/create-client.ts'
import { systemIds } from '../../core/system-ids.ts'
import { systemClock } from '../../core/time/system-clock.ts'
import { ConfigMap } from '../../kinds/builtin/core.ts'
import { clusterOf, createOperatingAgent } from '../../testing/agents/operating-agent.ts'
import type { OperatingAgent } from '../../testing/agents/operating-agent.ts'
import { configMapPolicy, policiesContract } from '../../testing/agents/policies-contract.ts'
import type { PolicySite } from '../../testing/agents/policies-contract.ts'
import { startControlPlane } from '../../testing/control-plane/control-plane.ts'
import type { ControlPlane } from '../../testing/control-plane/control-plane.ts'
import { passingClock } from '../../testing/control-plane/real-time-clock.ts'

const until: PolicySite['until'] = (what, holds) => passingClock.runUntil(holds, { withinMs: 60_000, what })

describe('checks on a real cluster', () => {
  let plane: ControlPlane
  let agent: OperatingAgent
  let client: ReturnType<typeof createClient>
  let close: () => Promise<void>

  before(async () => {
    plane = await startControlPlane()
    const cluster = await clusterOf(plane.kubeconfigPath)
    close = cluster.close
    client = createClient({ transport: cluster.transport, clock: systemClock })
    agent = createOperatingAgent({ transport: cluster.transport, clock: systemClock, ids: systemIds })
    agent.start()
  })
  after(async () => {
    await agent.stop()
    await close()
    await plane.stop()
  })

  policiesContract(() => ({
    agent,
    client,
    until,
    rest: () => sleep(3000),
    restart: async () => {
      await agent.stop()
      agent.start()
    },
  }))

  it('an executor judges and repairs with its own rights only, and the result says what it may not do', async () => {
    const executor = { namespace: 'default', name: 'auditor' }
    const create = async (path: string, body: object) => {
      const { status, text } = await plane.call('POST', path, body)
      assert.equal(status, 201, text)
    }
    await create('/api/v1/namespaces/default/serviceaccounts', {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: 'auditor' },
    })
    await create('/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles', {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'Role',
      metadata: { name: 'auditor' },
      rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list', 'watch'] }],
    })
    await create('/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings', {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata: { name: 'auditor' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'auditor' },
      subjects: [{ kind: 'ServiceAccount', name: 'auditor', namespace: 'default' }],
    })
    const secrets = configMapPolicy('no-right', {})
    const template = (secrets['spec'] as { 'object-templates': { objectDefinition: { kind: string } }[] })['object-templates'][0]! // prettier-ignore
    template.objectDefinition.kind = 'Secret'
    await agent.assign({
      'ops/audit': {
        generation: 900,
        objects: [
          configMapPolicy('missing', { a: 'b' }),
          configMapPolicy('denied', { a: 'b' }, { remediationAction: 'enforce' }),
          secrets,
        ],
        options: { checks: {}, executor },
      },
    })
    const check = (name: string) => agent.checks().find((one) => one.name === name)
    await until('the executor judges', () => check('missing')?.state === 'NonCompliant')
    await until('the repair is refused', () => check('denied')?.state === 'NonCompliant')
    assert.match(check('denied')?.message ?? '', /cannot create resource "configmaps".*auditor|auditor.*cannot create/)
    await until('the read is refused', () => check('no-right')?.state === 'Unknown')
    await until('and says why', () => /auditor may not get secrets/.test(check('no-right')?.message ?? ''))
    await client.create(ConfigMap, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { namespace: 'default', name: 'missing' },
      data: { a: 'b' },
    })
    await until('the executor watches', () => check('missing')?.state === 'Compliant')
  })
})
