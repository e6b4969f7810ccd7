/** What checks do on a cluster, whatever the cluster is made of: judged, repaired, told once, removed as asked. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { Client } from '../../client/client.ts'
import { isApiError } from '../../core/errors.ts'
import type { JsonObject } from '../../core/json.ts'
import { ConfigMap } from '../../kinds/builtin/core.ts'
import type { BundleOptions } from '../../kinds/fields/bundle-options.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import type { OperatingAgent } from './operating-agent.ts'

/** An agent on a cluster. */
export interface PolicySite {
  readonly agent: OperatingAgent
  /** The client of other writers. */
  readonly client: Client
  until(what: string, holds: () => boolean | Promise<boolean>): Promise<void>
  /** Long enough for an agent that would evaluate again to do it. */
  rest(): Promise<void>
  /** Kills the agent and starts it again on the same cluster. */
  restart(): Promise<void>
}

/** A ConfigurationPolicy about ConfigMap `name` in namespace default. */
export function configMapPolicy(name: string, data: Record<string, string>, spec: JsonObject = {}): UnknownObject {
  const objectDefinition = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' }, data }
  return {
    apiVersion: 'policy.open-cluster-management.io/v1',
    kind: 'ConfigurationPolicy',
    metadata: { name },
    spec: {
      remediationAction: 'inform',
      'object-templates': [{ complianceType: 'musthave', recordDiff: 'InStatus', objectDefinition }],
      ...spec,
    },
  }
}

const ENFORCE = { remediationAction: 'enforce' }

/** The cases. */
export function policiesContract(site: () => PolicySite): void {
  const wanted = new Map<string, { generation: number; objects: UnknownObject[]; options: BundleOptions }>()
  let generation = 0
  const assign = async (bundle: string, objects: UnknownObject[], checks: BundleOptions['checks'] = {}) => {
    generation += 1
    wanted.set(bundle, { generation, objects, options: { checks: checks ?? {} } })
    await site().agent.assign(Object.fromEntries(wanted))
  }
  const remove = async (bundle: string) => {
    wanted.delete(bundle)
    generation += 1
    const tombstones = [{ bundle, generation, policy: 'Delete' as const, cause: 'bundleDeleted' as const }]
    await site().agent.assign(Object.fromEntries(wanted), { tombstones })
  }
  const check = (name: string) =>
    site()
      .agent.checks()
      .find((one) => one.name === name)
  const reaches = (name: string, state: string) =>
    site().until(`${name} is ${state}`, () => check(name)?.state === state)
  const live = async (name: string): Promise<ConfigMap | undefined> => {
    try {
      return await site().client.get(ConfigMap, { namespace: 'default', name })
    } catch (caught) {
      if (!isApiError(caught, 'NotFound')) throw caught
      return undefined
    }
  }
  const create = (name: string, data: Record<string, string>) =>
    site().client.create(ConfigMap, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { namespace: 'default', name },
      data,
    })
  const edit = (name: string, data: Record<string, string>) =>
    site().client.patch(ConfigMap, { namespace: 'default', name }, { type: 'merge', body: { data } })

  it('an inform policy tells a violation once with its difference, and changes nothing', async () => {
    await create('told', { level: 'low' })
    await assign('ops/told', [configMapPolicy('told', { level: 'high' })])
    await reaches('told', 'NonCompliant')
    const row = check('told')!
    assert.match(row.message ?? '', /^NonCompliant; violation - configmaps \[told\] found but not as specified/)
    assert.deepEqual(
      row.objects?.map(({ object }) => object),
      ['ConfigMap default/told'],
    )
    assert.match(row.objects?.[0]?.difference ?? '', /-\s+level: low\n\+\s+level: high/)
    await site().rest()
    assert.deepEqual(check('told'), row)
    assert.deepEqual((await live('told'))?.data, { level: 'low' })
    // A change that leaves the violation as it is leaves its time.
    await edit('told', { other: 'x' })
    await site().until(
      'the difference is told',
      () => check('told')?.objects?.[0]?.difference?.includes('other') ?? false,
    )
    assert.equal(check('told')?.objects?.[0]?.since, row.objects?.[0]?.since)
    assert.equal(check('told')?.since, row.since)
    await edit('told', { level: 'high' })
    await reaches('told', 'Compliant')
    assert.equal(check('told')?.objects, undefined)
    assert.equal(site().agent.row('ops/told')?.state, 'Ready')
  })

  it('an enforced policy creates its object, and repairs it after a hand edit and after a deletion', async () => {
    await assign('ops/kept', [configMapPolicy('kept', { level: 'high' }, ENFORCE)])
    await reaches('kept', 'Compliant')
    assert.deepEqual((await live('kept'))?.data, { level: 'high' })
    await edit('kept', { level: 'low' })
    await site().until('the edit is repaired', async () => (await live('kept'))?.data?.['level'] === 'high')
    await site().client.delete(ConfigMap, { namespace: 'default', name: 'kept' })
    await site().until('the object is there again', async () => (await live('kept')) !== undefined)
    await reaches('kept', 'Compliant')
  })

  it('after a restart the agent goes on where it was', async () => {
    const before = check('kept')
    await site().restart()
    await site().until('the check is evaluated', () => check('kept')?.message !== undefined)
    assert.equal(check('kept')?.since, before?.since)
    await edit('kept', { level: 'low' })
    await site().until('the edit is repaired', async () => (await live('kept'))?.data?.['level'] === 'high')
  })

  it('a check waits for its dependency, and a dependency that fails again takes nothing away', async () => {
    const prunes = { ...ENFORCE, pruneObjectBehavior: 'DeleteIfCreated' }
    const dependsOn = [{ bundles: ['ops/first'], kind: 'ConfigurationPolicy', name: 'first' }]
    await assign('ops/first', [configMapPolicy('first', { on: 'yes' })])
    await assign('ops/second', [configMapPolicy('second', { on: 'yes' }, prunes)], { dependsOn })
    await reaches('first', 'NonCompliant')
    await reaches('second', 'Pending')
    assert.match(check('second')?.message ?? '', /ConfigurationPolicy first is NonCompliant, and Compliant is required/)
    assert.equal(await live('second'), undefined)
    await create('first', { on: 'yes' })
    await reaches('second', 'Compliant')
    assert.notEqual(await live('second'), undefined)
    await site().client.delete(ConfigMap, { namespace: 'default', name: 'first' })
    await reaches('second', 'Pending')
    await site().rest()
    assert.deepEqual((await live('second'))?.data, { on: 'yes' })
  })

  it('a policy removes what it created when it goes, if it says so, and nothing else', async () => {
    const prunes = { ...ENFORCE, pruneObjectBehavior: 'DeleteIfCreated' }
    await create('adopted', { on: 'no' })
    const policies = ['made', 'adopted'].map((name) => configMapPolicy(name, { on: 'yes' }, prunes))
    await assign('ops/prunes', [...policies, configMapPolicy('stays', { on: 'yes' }, ENFORCE)])
    for (const name of ['made', 'adopted', 'stays']) await reaches(name, 'Compliant')
    await site().restart()
    await remove('ops/prunes')
    await site().until('the receipt', () =>
      site()
        .agent.removals()
        .some(({ state }) => state === 'Removed'),
    )
    assert.equal(await live('made'), undefined)
    assert.deepEqual((await live('adopted'))?.data, { on: 'yes' })
    assert.notEqual(await live('stays'), undefined)
    assert.equal(check('made'), undefined)
  })

  it('an object that a bundle delivers is judged and not changed', async () => {
    wanted.set('ops/app', {
      generation: (generation += 1),
      objects: [
        {
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: { name: 'app', namespace: 'default' },
          data: { by: 'bundle' },
        },
      ],
      options: {},
    })
    await site().agent.assign(Object.fromEntries(wanted))
    await site().until('the bundle is Ready', () => site().agent.row('ops/app')?.state === 'Ready')
    await assign('ops/fights', [configMapPolicy('app', { by: 'policy' }, ENFORCE)])
    await reaches('app', 'NonCompliant')
    assert.match(check('app')?.message ?? '', /is delivered by flotilla:ops\/app, and a policy does not change it/)
    assert.deepEqual((await live('app'))?.data, { by: 'bundle' })
  })

  it('a check that cannot be evaluated is Unknown, and says why', async () => {
    const strange = {
      apiVersion: 'policy.open-cluster-management.io/v1beta1',
      kind: 'OperatorPolicy',
      metadata: { name: 'olm' },
    }
    await assign('ops/unknown', [strange])
    await reaches('olm', 'Unknown')
    await site().until('it says why', () => /OperatorPolicy is not evaluated/.test(check('olm')?.message ?? ''))
  })
}
