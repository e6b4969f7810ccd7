import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { base64, gzip, utf8 } from '../../core/bytes.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import { describeListed, readHelmRelease, readRecord, unwantedObjects, wantedKeys } from './peer-records.ts'
import type { PeerRecord } from './peer-records.ts'
import { PEER_NAMES, peerOf } from './peers.ts'

function object(apiVersion: string, kind: string, rest: object, metadata: object = {}): UnknownObject {
  return { apiVersion, kind, metadata: { name: 'one', namespace: 'team', ...metadata }, ...rest }
}

function recordOf(peer: string, one: UnknownObject): PeerRecord {
  const read = readRecord(peer, one)
  if (read.kind !== 'Record') assert.fail(JSON.stringify(read))
  return read.record
}

function helmSecret(release: object): UnknownObject {
  const packed = base64(gzip(utf8(JSON.stringify(release))))
  return object(
    'v1',
    'Secret',
    { data: { release: base64(utf8(packed)) } },
    { labels: { owner: 'helm', name: 'shop' } },
  )
}

const MANIFEST = `---
# Source: shop/templates/web.yaml
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: "system:reader"
`
const FLEET = { 'fleet.cattle.io/bundle-id': 'shop', 'fleet.cattle.io/agent-namespace': 'cattle-fleet-system' }
const release = (annotations: object, manifest = MANIFEST) => ({
  name: 'shop',
  namespace: 'team',
  manifest,
  chart: { metadata: { annotations } },
})
const WANTED = wantedKeys([
  { group: 'apps', kind: 'Deployment', plural: 'deployments', namespace: 'team', name: 'web' },
  { group: '', kind: 'ConfigMap', plural: 'configmaps', namespace: 'team', name: 'x' },
  { group: 'rbac.authorization.k8s.io', kind: 'ClusterRole', plural: 'clusterroles', name: 'system:reader' },
])

describe('records of other systems', () => {
  it('reads an AppliedManifestWork by the plural of its resources', () => {
    const own = 'cluster.open-cluster-management.io/applied-manifest-work-cleanup'
    const applied = (name: string) => ({
      group: 'apps',
      version: 'v1',
      resource: 'deployments',
      namespace: 'team',
      name,
    })
    const record = recordOf(
      'ocm',
      object(
        'work.open-cluster-management.io/v1',
        'AppliedManifestWork',
        { status: { appliedResources: [applied('web'), applied('other'), { group: 'x' }] } },
        { finalizers: ['mine', own] },
      ),
    )
    assert.deepEqual(record.disarm, [{ path: ['metadata', 'finalizers'], value: ['mine'] }])
    assert.deepEqual(unwantedObjects(record.lists, WANTED).map(describeListed), ['deployments.apps team/other'])
    assert.equal(record.isRemoved, true)
  })

  it('reads the inventory of a Kustomization, also names with colons and underscores', () => {
    const entries = [
      'team_web_apps_Deployment',
      '_system__reader_rbac.authorization.k8s.io_ClusterRole',
      'team_a_b__ConfigMap',
      'x',
    ]
    const record = recordOf(
      'flux',
      object(
        'kustomize.toolkit.fluxcd.io/v1',
        'Kustomization',
        { spec: {}, status: { inventory: { entries: entries.map((id) => ({ id, v: 'v1' })) } } },
        { finalizers: ['finalizers.fluxcd.io'] },
      ),
    )
    assert.deepEqual(unwantedObjects(record.lists, WANTED).map(describeListed), ['ConfigMap team/a_b'])
    assert.deepEqual(record.disarm, [
      { path: ['spec', 'suspend'], value: true },
      { path: ['metadata', 'finalizers'], value: [] },
    ])
    assert.equal(record.isRemoved, false)
  })

  it('reads a release of Helm, and takes only what the fleet-agent installed for a release of Fleet', () => {
    const record = recordOf('fleet', helmSecret(release(FLEET)))
    assert.deepEqual(unwantedObjects(record.lists, WANTED), [])
    assert.deepEqual(record.disarm, [{ path: ['metadata', 'labels', 'owner'], value: 'flotilla-handover' }])
    // k3s ships charts with this annotation, which no fleet-agent installed.
    const k3s = { 'fleet.cattle.io/bundle-id': 'k3s' }
    for (const foreign of [helmSecret(release({})), helmSecret(release(k3s)), object('v1', 'Secret', { data: {} })])
      assert.equal(readRecord('fleet', foreign).kind, 'None')
    // A manifest that cannot be read lists nothing, and such a record is left alone.
    assert.deepEqual(recordOf('fleet', helmSecret(release(FLEET, 'a: [b\n---\nkind: X'))).lists, [])
    assert.equal(readHelmRelease(object('v1', 'Secret', { data: { release: 'AAAA' } })), undefined)
  })

  it('names the release of a HelmRelease', () => {
    const status = { storageNamespace: 'flux-system', history: [{ name: 'team-shop', namespace: 'team' }] }
    const record = recordOf('flux', object('helm.toolkit.fluxcd.io/v2', 'HelmRelease', { spec: {}, status }))
    assert.deepEqual(record.releases, [{ namespace: 'flux-system', name: 'team-shop' }])
  })

  it('refuses controllers that manage another cluster as well', () => {
    const remote = { spec: { kubeConfig: { secretRef: { name: 'store-2' } } } }
    for (const kind of ['Kustomization', 'HelmRelease']) {
      const read = readRecord('flux', object('x/v1', kind, remote))
      assert.deepEqual(read, {
        kind: 'OtherCluster',
        why: `${kind} team/one manages another cluster: spec.kubeConfig is set`,
      })
    }
    for (const [mode, kind] of [
      ['Hosted', 'OtherCluster'],
      ['SingletonHosted', 'OtherCluster'],
      ['Singleton', 'None'],
      [undefined, 'None'],
    ] as const) {
      const klusterlet = object('operator.open-cluster-management.io/v1', 'Klusterlet', {
        spec: { deployOption: { mode } },
      })
      assert.equal(readRecord('ocm', klusterlet).kind, kind)
    }
    assert.ok(peerOf('ocm')!.records.some(({ kind }) => kind === 'Klusterlet'))
    const destinations: [object, string][] = [
      [{ server: 'https://kubernetes.default.svc' }, 'Record'],
      [{ name: 'in-cluster' }, 'Record'],
      [{ server: 'https://10.0.0.1:6443' }, 'OtherCluster'],
      [{ name: 'store-2' }, 'OtherCluster'],
    ]
    for (const [destination, kind] of destinations)
      assert.equal(
        readRecord('argo', object('argoproj.io/v1alpha1', 'Application', { spec: { destination } })).kind,
        kind,
      )
  })

  it('disarms every finalizer of an Application that deletes', () => {
    const finalizers = [
      'resources-finalizer.argocd.argoproj.io/background',
      'post-delete-finalizer.argocd.argoproj.io/cleanup',
      'mine',
    ]
    const spec = { destination: { name: 'in-cluster' } }
    const { disarm } = recordOf('argo', object('argoproj.io/v1alpha1', 'Application', { spec }, { finalizers }))
    assert.deepEqual(disarm.at(-1), { path: ['metadata', 'finalizers'], value: ['mine'] })
  })

  it('knows five systems, and no other by chance', () => {
    assert.deepEqual(PEER_NAMES, ['ocm', 'fleet', 'argo', 'flux', 'karmada'])
    assert.equal(peerOf('constructor'), undefined)
    assert.equal(peerOf('helm'), undefined)
  })
})
