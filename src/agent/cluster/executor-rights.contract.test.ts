/**
 * What the agent asks of a cluster as an executor, through install, upgrade, prune, repair and removal. A right that it
 * uses and that docs/apply.md does not name breaks a team's role; a right that it never uses is one too many.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { afterEach, describe, it } from 'node:test'
import { ServiceAccount } from '../../kinds/builtin/core.ts'
import { Role, RoleBinding } from '../../kinds/builtin/rbac.ts'
import type { BundleOptions } from '../../kinds/fields/bundle-options.ts'
import { EXECUTOR_METHODS, executorVerbs } from '../../plan/apply/executor-verbs.ts'
import type { ApplyMethod } from '../../plan/apply/executor-verbs.ts'
import { createOperatingAgent } from '../../testing/agents/operating-agent.ts'
import { joinedAgents } from '../../testing/agents/joined-agents.ts'
import { configMap } from '../../testing/hub/test-hub.ts'
import { rightsNoter } from '../../testing/hub/used-rights.ts'
import type { UsedRights } from '../../testing/hub/used-rights.ts'
import { build } from '../../testing/fixtures/builders.ts'

const BUNDLE = 'shop/app'
const RBAC = 'rbac.authorization.k8s.io'
const EXECUTOR = { namespace: 'shop', name: 'deployer' }
const { joined, open, close } = joinedAgents()
afterEach(close)

/** An agent whose executor has these verbs on ConfigMaps of its namespace, and what it asks for as the executor. */
async function world(verbs: readonly string[]) {
  const { hub, site } = await joined()
  await site.stop()
  const { client, transport } = site.cluster
  await site.create('Namespace', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } })
  const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: [...verbs] }]
  const roleRef = { apiGroup: RBAC, kind: 'Role', name: 'deployer' }
  await client.create(ServiceAccount, build(ServiceAccount, 'shop/deployer', {}))
  await client.create(Role, build(Role, 'shop/deployer', { rules }))
  const subjects = [{ kind: 'ServiceAccount', ...EXECUTOR }]
  await client.create(RoleBinding, build(RoleBinding, 'shop/deployer', { roleRef, subjects }))
  const rights: UsedRights = { used: new Set(), denied: [] }
  const note = rightsNoter(rights)
  const agent = createOperatingAgent({
    transport: async (request, signal) => {
      const answer = await transport(request, signal)
      if (request.headers['impersonate-user'] !== undefined) note(request, answer.status)
      return answer
    },
    clock: hub.clock,
    ids: hub.ids.fork('operating'),
  })
  agent.start()
  open.unshift({ close: () => agent.stop() })
  const until = (done: () => unknown, what: string) =>
    hub.clock
      .runUntil(async () => Boolean(await done()), { withinMs: 900_000, what })
      .catch((caught: unknown) => {
        throw new Error(`${what}: ${JSON.stringify(agent.row(BUNDLE))}`, { cause: caught })
      })
  const ready = (generation: number) =>
    until(() => agent.row(BUNDLE)?.state === 'Ready' && agent.row(BUNDLE)?.generation === generation, 'Ready')
  return { agent, site, rights, until, ready, clock: hub.clock }
}

/** Lives through everything that a bundle does in a cluster. */
async function live(method: ApplyMethod, { agent, site, until, ready }: Awaited<ReturnType<typeof world>>) {
  const options: BundleOptions = { executor: EXECUTOR, apply: { method }, drift: { mode: 'Correct' } }
  if (method === 'ReadOnly') await site.create('ConfigMap', configMap('stays', { v: '1' }, 'shop'))
  const isThere = async (name: string) => (await site.configMap(name, 'shop')) !== undefined
  const value = async () => (await site.configMap('stays', 'shop'))?.['data']?.['v' as never]
  const first = method === 'ReadOnly' ? ['stays'] : ['stays', 'goes']
  const at = (generation: number, names: readonly string[], v: string) => ({
    [BUNDLE]: { generation, objects: names.map((name) => configMap(name, { v }, 'shop')), options },
  })
  await agent.assign(at(1, first, '1'))
  await ready(1)
  const isWritten = method === 'ServerSideApply' || method === 'Replace'
  await agent.assign(at(2, ['stays'], isWritten ? '2' : '1'))
  await ready(2)
  await until(async () => !(await isThere('goes')), 'prune')
  if (isWritten) {
    const { client } = site.cluster
    await client.patch(
      { group: '', version: 'v1', kind: 'ConfigMap', plural: 'configmaps', scope: 'Namespaced' } as never,
      { namespace: 'shop', name: 'stays' },
      { type: 'merge', body: { data: { v: 'by hand' } } },
    )
    await until(async () => (await value()) === '2', 'repair')
  }
  const tombstones = [{ bundle: BUNDLE, generation: 3, policy: 'Delete' as const, cause: 'bundleDeleted' as const }]
  await agent.assign({}, { tombstones })
  await until(() => agent.removals().length > 0, 'removal')
  if (method !== 'ReadOnly') await until(async () => !(await isThere('stays')), 'removal of the object')
}

describe('the rights of an executor', () => {
  for (const method of EXECUTOR_METHODS) {
    const { required, watching } = executorVerbs(method)
    const text = (verbs: readonly string[]) => verbs.map((verb) => `${verb} configmaps.`).toSorted()

    it(`are all that are named for ${method}, and no other`, async () => {
      const at = await world([...required, ...watching])
      await live(method, at)
      assert.deepEqual(
        at.rights.denied.filter((one) => !/\(\/api\/v1\/configmaps\?/.test(one)),
        [],
        'in its namespace nothing is denied',
      )
      assert.deepEqual([...at.rights.used].toSorted(), text([...required, ...watching]))
    })

    it(`without list and watch are enough for ${method}`, async () => {
      const at = await world(required)
      await live(method, at)
      const changes = at.rights.denied.filter((one) => !/^(list|watch) /.test(one))
      assert.deepEqual(changes, [])
    })
  }

  it('stand in docs/apply.md', () => {
    const page = readFileSync(new URL('../../../docs/apply.md', import.meta.url), 'utf8')
    for (const method of EXECUTOR_METHODS) {
      const { required, watching } = executorVerbs(method)
      const cell = (verbs: readonly string[]) => verbs.map((verb) => `\`${verb}\``).join(', ') || 'none'
      const row = `| \`${method}\` | ${cell(required)} | ${cell(watching)} |`
      assert.ok(page.includes(row), row)
    }
  })
})
