/** Confused deputies in the words of other systems: objects of dialects in the namespace of a tenant. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { JsonObject } from '../../core/json.ts'
import { Application, AppProject } from '../../dialects/argo/kinds.ts'
import { FleetCluster, GitRepo } from '../../dialects/fleet/kinds.ts'
import { GitRepository, Kustomization } from '../../dialects/flux/kinds.ts'
import { ManagedClusterSetBinding } from '../../dialects/ocm/kinds.ts'
import { ManifestWork } from '../../dialects/ocm/works/kinds.ts'
import { apiVersionOf } from '../../kinds/meta.ts'
import type { Condition, KubeObject, ResourceType } from '../../kinds/meta.ts'
import { Assignment } from '../../kinds/native/assignment.ts'
import { Bundle } from '../../kinds/native/bundle.ts'
import { Placement } from '../../kinds/native/placement.ts'
import { eventually, refusalOf } from './tenancy-world.ts'
import type { TenancyWorld } from './tenancy-world.ts'

type Loose = KubeObject & { readonly spec?: JsonObject; readonly status?: { readonly conditions?: Condition[] } }

/** Describes the attempts. */
export function dialectDeputiesContract(home: string, worldOf: () => TenancyWorld): void {
  const create = async (user: string, type: ResourceType<KubeObject>, key: string, spec: JsonObject): Promise<void> => {
    const [namespace = '', name = ''] = key.split('/')
    const object = { apiVersion: apiVersionOf(type), kind: type.kind, metadata: { namespace, name }, spec } as Loose
    await worldOf().as(user).client.create(type, object)
  }

  /** The conditions of an object as text, once they match. */
  async function untilSays(type: ResourceType<KubeObject>, key: string, says: RegExp): Promise<void> {
    const [namespace = '', name = ''] = key.split('/')
    let last = ''
    await eventually(worldOf(), key, async () => {
      const found: Loose = await worldOf().admin.get(type, { namespace, name })
      last = (found.status?.conditions ?? []).map((one) => `${one.type} ${one.reason}: ${one.message}`).join('\n')
      return says.test(last) ? true : undefined
    }).catch((caught: unknown) => assert.match(last, says, String(caught)))
  }

  const namesOf = async (type: ResourceType<KubeObject>) =>
    (await worldOf().admin.list(type, { namespace: 'team-b' })).items.map(({ metadata }) => metadata.name)

  describe(`confused deputies of the dialects: ${home}`, () => {
    test('Flux: the Secret, the source and the namespace of another team', async () => {
      const repository = { url: 'https://git.example.com/a', interval: '1m', secretRef: { name: 'git' } }
      await create('editor-b', GitRepository, 'team-b/theft', repository)
      await untilSays(GitRepository, 'team-b/theft', /names Secret git, which does not exist/)
      const sourceRef = { kind: 'GitRepository', name: 'theft', namespace: 'team-a' }
      await create('editor-b', Kustomization, 'team-b/theft', { sourceRef, path: './', interval: '1m', prune: true })
      await untilSays(Kustomization, 'team-b/theft', /cross-namespace references have been blocked/)
      assert.ok(!(await namesOf(Bundle)).some((name) => name.includes('theft')))
    })

    test('Argo CD: an AppProject that does not admit the namespace, and one of their own', async () => {
      const source = { repoURL: 'https://git.example.com/a', path: '.' }
      const destination = { name: 'store-1', namespace: 'team-a' }
      await create('editor-b', Application, 'team-b/theft', { project: 'default', source, destination })
      await untilSays(Application, 'team-b/theft', /is not permitted to use project default/)
      const refusal = await refusalOf(create('editor-b', AppProject, 'team-b/default', { sourceRepos: ['*'] }))
      assert.match(refusal, /cannot create resource "appprojects"/)
      assert.ok(!(await namesOf(Bundle)).some((name) => name.includes('theft')))
    })

    test('Fleet: the Secret of another team, a cluster by name, and the face of a cluster', async () => {
      const stolen = {
        repo: 'https://git.example.com/a',
        clientSecretName: 'git',
        targets: [{ clusterName: 'store-1' }],
      }
      await create('fleet-user', GitRepo, 'team-b/theft', stolen)
      await untilSays(GitRepo, 'team-b/theft', /Secret.*git/)
      const face = create('fleet-user', FleetCluster, 'team-b/store-1', { clientID: 'x' })
      assert.match(
        await refusalOf(face),
        /may not write Cluster store-1 of fleet\.cattle\.io: it needs the verb update/,
      )
      assert.ok(!(await namesOf(Placement)).some((name) => name.includes('theft')))
    })

    test('Open Cluster Management: a work in a namespace that is no cluster, and a set without the right to bind', async () => {
      const content = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x', namespace: 'team-a' } }
      await create('fleet-user', ManifestWork, 'team-b/theft', { workload: { manifests: [content] } })
      const binding = create('fleet-user', ManagedClusterSetBinding, 'team-b/a', { clusterSet: 'a' })
      assert.match(await refusalOf(binding), /may not bind|bind/)
      await untilSays(ManifestWork, 'team-b/theft', /Admitted ClusterNotFound: Cluster team-b does not exist/)
      const { items } = await worldOf().admin.list(Assignment)
      const entries = items.flatMap(({ spec }) => spec.entries ?? []).filter(({ bundle }) => bundle.includes('theft'))
      assert.deepEqual(entries, [])
    })
  })
}
