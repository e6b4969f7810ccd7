/** Objects for tests: say what the case is about, the rest is filled in. */
import { base64, publicKeyDer } from '../core/bytes.ts'
import { seededKeys } from '../core/crypto/key-pair.ts'
import { Bundle } from '../kinds/native/bundle.ts'
import { Cluster } from '../kinds/native/cluster.ts'
import { apiVersionOf } from '../kinds/meta.ts'
import type { KubeObject, ObjectMeta, ResourceType } from '../kinds/meta.ts'
import { Placement } from '../kinds/native/placement.ts'
import { createSeededIds } from '../sim/kernel/seeded-ids.ts'

/** An object's own fields, without what its kind and name say already. */
export type Fields<T extends KubeObject> = Omit<T, 'apiVersion' | 'kind' | 'metadata'>

/** Any object: `namespace/name` or `name`, then its fields. */
export function build<T extends KubeObject>(
  type: ResourceType<T>,
  key: string,
  fields: Fields<T>,
  metadata: Partial<ObjectMeta> = {},
): T {
  const slash = key.indexOf('/')
  const address = slash < 0 ? { name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) }
  return { apiVersion: apiVersionOf(type), kind: type.kind, metadata: { ...address, ...metadata }, ...fields } as T
}

/** An accepted cluster with keys of its own, the same for the same name. */
export function buildCluster(
  name: string,
  {
    labels = {},
    spec = {},
    status,
  }: { labels?: Record<string, string>; spec?: Partial<Cluster['spec']>; status?: Cluster['status'] } = {},
): Cluster {
  const newKeys = seededKeys(createSeededIds(name))
  const fields: Fields<Cluster> = {
    spec: {
      id: `c-${name}`,
      accepted: true,
      identityKey: base64(publicKeyDer(newKeys('ed25519').publicKey)),
      sealingKey: base64(publicKeyDer(newKeys('x25519').publicKey)),
      checkInSeconds: 30,
      offlineAfterSeconds: 120,
      ...spec,
    },
    ...(status ? { status } : {}),
  }
  return build(Cluster, name, fields, { labels })
}

/** A ConfigMap as a manifest. */
export function configMapManifest(name: string, data: Readonly<Record<string, string>>, namespace = 'default'): string {
  return `${JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace }, data }, null, 2)}\n`
}

/** A bundle (`namespace/name`) of manifests for a placement. */
export function buildBundle(key: string, spec: Partial<Bundle['spec']> = {}): Bundle {
  const manifests = configMapManifest('hello', { greeting: 'hello' })
  return build(Bundle, key, { spec: { manifests, placement: 'everywhere', ...spec } })
}

/** A placement (`namespace/name`) of clusters with these labels. */
export function buildPlacement(key: string, matchLabels: Record<string, string> = {}): Placement {
  return build(Placement, key, { spec: { clusterSelector: { matchLabels } } })
}
