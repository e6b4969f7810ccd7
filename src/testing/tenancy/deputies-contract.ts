/**
 * Confused deputies: each way in which a tenant could make the hub act for it where it may not act itself, tried by
 * name as the user who would try it.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { isApiError } from '../../core/errors.ts'
import { Secret } from '../../kinds/builtin/core.ts'
import type { KubeObject, ResourceType } from '../../kinds/meta.ts'
import { Approval } from '../../kinds/native/approval.ts'
import { Bundle } from '../../kinds/native/bundle.ts'
import { ClusterSetBinding } from '../../kinds/native/cluster-set-binding.ts'
import { Cluster } from '../../kinds/native/cluster.ts'
import { Delivery } from '../../kinds/native/delivery.ts'
import { JoinToken } from '../../kinds/native/join-token.ts'
import { Override } from '../../kinds/native/override.ts'
import { Placement } from '../../kinds/native/placement.ts'
import { Project } from '../../kinds/native/project.ts'
import { Release } from '../../kinds/native/release.ts'
import { Rollout } from '../../kinds/native/rollout.ts'
import { Source } from '../../kinds/native/source.ts'
import { build, buildBundle, buildCluster } from '../fixtures/builders.ts'
import { buildProject } from '../fixtures/projects.ts'
import { eventually, refusalOf } from './tenancy-world.ts'
import type { TenancyWorld } from './tenancy-world.ts'

const RBAC = 'rbac.authorization.k8s.io'

const manifest = (apiVersion: string, kind: string, metadata: string) =>
  `apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata: ${metadata}\n`

/** Describes the attempts. */
export function deputiesContract(home: string, worldOf: () => TenancyWorld): void {
  const clientOf = (user: string) => worldOf().as(user).client
  let count = 0

  /** `Status Reason: message` of the condition Ready, once it matches. */
  async function untilReady(type: ResourceType<KubeObject>, key: string, says: RegExp): Promise<void> {
    const [namespace = '', name = ''] = key.split('/')
    let last = ''
    await eventually(worldOf(), `${key} says ${says.source}`, async () => {
      const found = (await worldOf().admin.get(type, { namespace, name })) as Bundle
      const ready = found.status?.conditions?.find((one) => one.type === 'Ready')
      last = `${ready?.status} ${ready?.reason}: ${ready?.message}`
      return says.test(last) ? true : undefined
    }).catch((caught: unknown) => assert.match(last, says, String(caught)))
  }

  /** Content as the editor of team-b, which the hub refuses with a line. */
  async function refuses(content: string, says: RegExp): Promise<void> {
    const name = `x${++count}`
    const client = clientOf('editor-b')
    await client.create(Bundle, buildBundle(`team-b/${name}`, { manifests: content, placement: 'stores' }))
    await untilReady(Bundle, `team-b/${name}`, says)
    await client.delete(Bundle, { namespace: 'team-b', name })
  }

  const refusesBundle = async (spec: Partial<Bundle['spec']>, says: RegExp): Promise<void> => {
    const bundle = buildBundle(`team-b/x${++count}`, { placement: 'stores', ...spec })
    assert.match(await refusalOf(clientOf('editor-b').create(Bundle, bundle)), says)
  }

  describe(`confused deputies: ${home}`, () => {
    test('a Source with the Secret of another tenant: the name means a Secret of its own namespace', async () => {
      const secret = build(Secret, 'team-a/git', { stringData: { password: 'of-a' } })
      await worldOf().admin.create(Secret, secret)
      const git = { url: 'https://git.example.com/a' }
      const source = build(Source, 'team-b/theft', { spec: { git, interval: '1m', credentials: 'git' } })
      assert.match(await refusalOf(clientOf('editor-b').create(Source, source)), /cannot create resource "sources"/)
      await clientOf('fetcher').create(Source, source)
      await untilReady(Source, 'team-b/theft', /^False SecretNotFound/)
      const other = { ...source, spec: { ...source.spec, credentials: 'team-a/git' } }
      const client = clientOf('fetcher')
      await client.delete(Source, { namespace: 'team-b', name: 'theft' })
      assert.match(await refusalOf(client.create(Source, other)), /spec\.credentials/)
    })

    test('a set that is not bound, and a binding without the verb bind', async () => {
      const placement = build(Placement, 'team-b/theft', { spec: { clusterSelector: {}, clusterSets: ['a'] } })
      await clientOf('editor-b').create(Placement, placement)
      await untilReady(Placement, 'team-b/theft', /^True NoClusters/)
      await clientOf('editor-b').delete(Placement, { namespace: 'team-b', name: 'theft' })
      const binding = build(ClusterSetBinding, 'team-b/a', { spec: { clusterSet: 'a' } })
      assert.match(await refusalOf(clientOf('editor-b').create(ClusterSetBinding, binding)), /cannot create resource/)
      assert.match(await refusalOf(clientOf('binder').create(ClusterSetBinding, binding)), /bind/)
    })

    test('content for the namespace of the agent, for kube-system and for another team', async () => {
      for (const namespace of ['flotilla-agent', 'kube-system', 'team-a']) {
        const content = manifest('v1', 'ConfigMap', `{ name: x, namespace: ${namespace} }`)
        await refuses(content, new RegExp(`^False ProjectRefuses: .*targetNamespaces does not list ${namespace}`))
      }
    })

    test('kinds without a namespace, a namespace, and hooks', async () => {
      for (const [version, kind] of [
        [`${RBAC}/v1`, 'ClusterRole'],
        ['v1', 'Namespace'],
        ['apiextensions.k8s.io/v1', 'CustomResourceDefinition'],
      ] as const) {
        await refuses(manifest(version, kind, '{ name: team-a }'), /^False ProjectRefuses: .*spec\.kinds does not list/)
      }
      for (const annotation of ['flotilla.dev/hook: pre-install', 'helm.sh/hook: pre-install']) {
        const metadata = `{ name: x, namespace: team-a, annotations: { ${annotation} } }`
        const says = /^False ProjectRefuses: .*targetNamespaces does not list team-a/
        await refuses(manifest('v1', 'ConfigMap', metadata), says)
      }
    })

    test('the executor of another team, also in a variant; without one, content is released', async () => {
      const executor = { namespace: 'team-a', name: 'deployer' }
      const own = manifest('v1', 'ConfigMap', '{ name: x, namespace: team-b }')
      const line = /Project team-b: spec\.executors\.allowed does not list team-a\/deployer/
      await refusesBundle({ manifests: own, executor }, line)
      const variants = [{ name: 'all', clusterSelector: {}, options: { executor } }]
      const ofVariant = /Project team-b: spec\.executors\.allowed does not list the executor of a variant/
      await refusesBundle({ manifests: own, variants }, ofVariant)
      await clientOf('editor-b').create(Bundle, buildBundle('team-b/own', { manifests: own, placement: 'stores' }))
      await eventually(worldOf(), 'a Release of team-b/own', async () => {
        const { items } = await worldOf().admin.list(Release, { namespace: 'team-b' })
        return items.find(({ spec }) => spec.bundles.some(({ name }) => name === 'own'))
      })
    })

    test('Overrides, Rollouts, Approvals, Deliveries, Projects and tokens are out of reach of an editor', async () => {
      const bob = clientOf('editor-b')
      const labels = { 'flotilla.dev/cluster-set': 'b' }
      const attempts: [string, () => Promise<unknown>][] = [
        ['overrides', () => bob.create(Override, build(Override, 'team-b/x', { spec: { bundle: 'x' } } as never))],
        ['rollouts', () => bob.create(Rollout, build(Rollout, 'team-b/x', { spec: { release: 'x' } } as never))],
        ['rollouts', () => bob.delete(Rollout, { namespace: 'team-b', name: 'x' })],
        ['approvals', () => bob.create(Approval, build(Approval, 'team-b/x', { spec: { rollout: 'x' } } as never))],
        ['deliveries', () => bob.create(Delivery, build(Delivery, 'team-b/x', { spec: {} } as never))],
        ['projects', () => bob.update(Project, buildProject('team-b', ['team-b']))],
        ['projects', () => bob.create(Project, buildProject('more', ['team-b']))],
        ['jointokens', () => bob.create(JoinToken, build(JoinToken, 'x', { spec: {} } as never))],
        ['clusters', () => bob.create(Cluster, buildCluster('store-1'))],
        ['clusters', () => bob.update(Cluster, buildCluster('store-1', { labels }))],
        ['secrets', () => bob.get(Secret, { namespace: 'team-a', name: 'git' })],
      ]
      for (const [what, attempt] of attempts)
        assert.match(await refusalOf(attempt()), new RegExp(`cannot \\w+ resource "${what}"`), what)
    })

    test('an approval in the name of another user, and one of its own change without the verb approve', async () => {
      const approval = (author: string) =>
        build(Approval, 'team-b/mine', { spec: { rollout: 'r', ring: 'all', author, decision: 'Approve' } })
      const own = clientOf('self-approver')
      assert.match(await refusalOf(own.create(Approval, approval('editor-a'))), /spec\.author must be the caller/)
      assert.match(await refusalOf(own.create(Approval, approval('self-approver'))), /needs the verb approve/)
    })

    test('a Rollout keeps its approvals and the name of the user that started it', async () => {
      const rings = [{ name: 'all', concurrency: 1, approvals: { count: 1, noSelfApproval: true } }]
      await worldOf().admin.create(
        Rollout,
        build(Rollout, 'team-b/held', { spec: { release: 'none', rings, paused: true } }),
      )
      const change = (body: object) =>
        clientOf('editor-b').patch(
          Rollout,
          { namespace: 'team-b', name: 'held' },
          { type: 'merge', body: { spec: body } },
        )
      assert.match(await refusalOf(change({ rings: [{ name: 'all', concurrency: 1 }] })), /approvals and gates/)
      assert.match(await refusalOf(change({ paused: false })), /must contain the caller editor-b to resume/)
      assert.match(await refusalOf(change({ startedBy: ['editor-a'] })), /can add only its own name/)
    })

    test('a token that accepts, and a cluster that is accepted or gets another key, need the verb accept', async () => {
      const expiresAt = '2096-01-02T00:00:00Z'
      const spec = { tokenHash: '0'.repeat(64), clusterName: 'store-1', accept: 'Auto', expiresAt }
      const token = build(JoinToken, 'theft', { spec } as never)
      assert.match(await refusalOf(clientOf('tokens').create(JoinToken, token)), /accept/)
      await worldOf().admin.create(Cluster, buildCluster('waiting', { spec: { accepted: false } }))
      const change = (name: string, body: object) =>
        clientOf('operator').patch(Cluster, { name }, { type: 'merge', body: { spec: body } })
      assert.match(await refusalOf(change('waiting', { accepted: true })), /accept/)
      assert.match(await refusalOf(change('store-1', { identityKey: 'z'.repeat(60) })), /identityKey/)
      // A cluster of another name with the identity of store-1.
      const renamed = { ...buildCluster('store-1'), metadata: { name: 'renamed' } }
      await assert.rejects(clientOf('operator').create(Cluster, renamed), (caught) => isApiError(caught, 'Forbidden'))
    })

    test('an exception of a window that is not theirs', async () => {
      const spec = { release: 'none', rings: [{ name: 'all', concurrency: 1 }], paused: false }
      await worldOf().admin.create(Rollout, build(Rollout, 'team-b/r', { spec }))
      const body = { spec: { exceptions: [{ kind: 'Group', name: 'emergency' }] } }
      const at = { namespace: 'team-b', name: 'r' }
      const attempt = clientOf('editor-b').patch(Rollout, at, { type: 'merge', body })
      assert.match(await refusalOf(attempt), /may not use an exception/)
    })
  })
}
