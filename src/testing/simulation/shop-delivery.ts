/** A small Delivery that lives, for simulated fleets: its set is stored first. */
import type { Blobs } from '../../blobs/blobs.ts'
import type { Digest } from '../../core/crypto/digest.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import type { Delivery } from '../../kinds/native/delivery.ts'
import { toBlobs } from '../../render/render-result.ts'
import { objectSetBytes } from '../../wire/document/signed-document.ts'

/** Stores objects as a set. */
export async function storeObjects(blobs: Pick<Blobs, 'put'>, objects: readonly UnknownObject[]): Promise<Digest> {
  const stored = toBlobs(objects)
  for (const { bytes } of stored) await blobs.put(bytes)
  return blobs.put(
    objectSetBytes({ format: 'flotilla.dev/set/v1', objects: stored.map(({ bytes: _bytes, ...object }) => object) }),
  )
}

/** A ConfigMap and a Deployment in namespace `default`. */
export function shopObjects(text = 'good morning', name = 'shop'): UnknownObject[] {
  const labels = { app: name }
  return [
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' }, data: { text } },
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name, namespace: 'default', labels },
      spec: {
        replicas: 2,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name, image: 'registry.example/shop:1.0' }] } },
      },
    },
  ]
}

/** A Delivery of a set to clusters. */
export function shopDelivery(set: Digest, clusters: string[], options?: Delivery['spec']['options']): Delivery {
  return {
    apiVersion: 'flotilla.dev/v1alpha1',
    kind: 'Delivery',
    metadata: { name: 'shop', namespace: 'default' },
    spec: { set, clusters, ...(options ? { options } : {}) },
  }
}
