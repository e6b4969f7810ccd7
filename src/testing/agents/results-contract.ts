/** What the agent tells about the results of policy engines, whatever the cluster is made of. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { EngineResults } from '../../agent/results/engine-results.ts'
import type { Client } from '../../client/client.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import { CrdResource } from '../../hub/home/kube-home.ts'
import { ENGINE_KINDS, engineKind, kyvernoReport } from './engine-kinds.ts'
import type { WrittenResult } from './engine-kinds.ts'

/** An agent on a cluster. */
export interface ResultsSite {
  readonly results: () => EngineResults
  /** The client of the engines. */
  readonly client: Client
  until(what: string, holds: () => boolean): Promise<void>
  /** Long enough for an agent that would report again to do it. */
  rest(): Promise<void>
  /** Reports since the last call. */
  reports(): number
  /** Kills the agent and starts it again with its files. */
  restart(): Promise<void>
}

/** The cases. */
export function resultsContract(site: () => ResultsSite): void {
  const install = (kind: keyof typeof ENGINE_KINDS) => site().client.create(CrdResource, engineKind(kind) as never)
  const policies = () => site().results().current()?.policies ?? []
  const policy = (name: string) => policies().find((one) => one.policy === name)
  const fails = (name: string, count: number) =>
    site().until(`${name} fails ${count} times`, () => policy(name)?.fail === count)
  /** Writes when the API serves the kind, as an engine does. */
  const write = async (type: (typeof ENGINE_KINDS)[keyof typeof ENGINE_KINDS], object: UnknownObject) => {
    let created: UnknownObject | undefined
    await site().until('the kind is served', () => {
      if (created) return true
      void site()
        .client.create(type, object)
        .then(
          (done) => (created ??= done),
          () => {},
        )
      return false
    })
    return created!
  }
  const pod = { namespace: 'default', name: 'till', uid: '5d0f2a51-0000-4000-8000-000000000001' }
  const reportOf = (results: readonly WrittenResult[], more: Partial<typeof pod> = {}) =>
    kyvernoReport(ENGINE_KINDS.PolicyReport, { ...pod, ...more }, results)
  const latest: WrittenResult = { policy: 'disallow-latest-tag', result: 'fail', severity: 'medium', message: 'name a tag' } // prettier-ignore

  it('a cluster without an engine has no results', async () => {
    await site().rest()
    assert.equal(site().results().current(), undefined)
    assert.equal(site().reports(), 0)
  })

  it('results of Kyverno are told soon after the engine comes, by policy and namespace', async () => {
    await install('PolicyReport')
    await install('ClusterPolicyReport')
    await write(ENGINE_KINDS.PolicyReport, reportOf([latest, { policy: 'require-limits', result: 'pass' }]))
    await fails('disallow-latest-tag', 1)
    assert.deepEqual(policy('disallow-latest-tag'), {
      engine: 'kyverno',
      policy: 'disallow-latest-tag',
      severity: 'medium',
      pass: 0,
      fail: 1,
      warn: 0,
      error: 0,
      skip: 0,
      namespaces: [{ namespace: 'default', fail: 1, warn: 0, error: 0 }],
      objects: [{ object: 'Pod default/till', result: 'fail', rule: 'check', message: 'name a tag' }],
    })
    assert.equal(policy('require-limits')?.pass, 1)
    const second = { name: 'web', uid: '5d0f2a51-0000-4000-8000-000000000002' }
    await site().client.create(ENGINE_KINDS.PolicyReport, reportOf([latest], second))
    await fails('disallow-latest-tag', 2)
    await site().client.delete(ENGINE_KINDS.PolicyReport, { namespace: 'default', name: second.uid })
    await fails('disallow-latest-tag', 1)
  })

  it('an object that complies is no reason for a report', async () => {
    site().reports()
    const third = { name: 'api', uid: '5d0f2a51-0000-4000-8000-000000000003' }
    await site().client.create(ENGINE_KINDS.PolicyReport, reportOf([{ ...latest, result: 'pass' }], third))
    await site().rest()
    assert.equal(site().reports(), 0)
  })

  it('violations of a constraint of Gatekeeper are told, with those that it only counts', async () => {
    await install('K8sRequiredLabels')
    const constraint = {
      apiVersion: 'constraints.gatekeeper.sh/v1beta1',
      kind: 'K8sRequiredLabels',
      metadata: { name: 'owner' },
      spec: { enforcementAction: 'dryrun', parameters: { labels: ['owner'] } },
    }
    await write(ENGINE_KINDS.K8sRequiredLabels, constraint)
    const violation = { enforcementAction: 'dryrun', group: '', kind: 'Namespace', message: 'no owner', name: 'default', version: 'v1' } // prettier-ignore
    const status = {
      auditTimestamp: '2026-11-19T00:00:00Z',
      byPod: [{ id: 'gatekeeper-audit-0', enforced: true, operations: ['audit', 'status'], observedGeneration: 1 }],
      totalViolations: 25,
      violations: [violation],
    }
    await site().client.patch(ENGINE_KINDS.K8sRequiredLabels, { name: 'owner' }, { type: 'merge', body: { status } }, { subresource: 'status' }) // prettier-ignore
    await fails('K8sRequiredLabels/owner', 25)
    const told = policy('K8sRequiredLabels/owner')!
    assert.equal(told.engine, 'gatekeeper')
    assert.deepEqual(told.namespaces, [{ fail: 1, warn: 0, error: 0 }])
    assert.deepEqual(told.objects, [{ object: 'Namespace default', result: 'fail', message: 'no owner' }])
  })

  it('reports of OpenReports count too', async () => {
    await install('Report')
    const report = kyvernoReport(ENGINE_KINDS.Report, pod, [{ ...latest, policy: 'open' }])
    await write(ENGINE_KINDS.Report, { ...report, source: 'kyverno' })
    await fails('open', 1)
  })

  it('after a restart the agent tells what it told, and never less on the way', async () => {
    const before = policies()
    site().reports()
    await site().restart()
    await site().until('the results are told', () => site().results().current() !== undefined)
    assert.deepEqual(policies(), before)
    await site().rest()
    const counts = (list: ReturnType<typeof policies>) => list.map((one) => [one.policy, one.fail])
    assert.deepEqual(counts(policies()), counts(before))
    assert.equal(site().reports(), 0)
  })

  it('an engine that is removed has no results any more', async () => {
    await site().client.delete(CrdResource, { name: 'k8srequiredlabels.constraints.gatekeeper.sh' })
    await site().until('the constraint is gone', () => policy('K8sRequiredLabels/owner') === undefined)
    assert.equal(policy('open')?.fail, 1)
  })
}
