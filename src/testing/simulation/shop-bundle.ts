/** A small bundle that lives, for simulated fleets. */
import type { Bundle } from '../../kinds/native/bundle.ts'
import type { Placement } from '../../kinds/native/placement.ts'

/** Every store. */
export const SHOP_PLACEMENT: Placement = {
  apiVersion: 'flotilla.dev/v1alpha1',
  kind: 'Placement',
  metadata: { name: 'stores', namespace: 'default' },
  spec: { clusterSelector: { matchLabels: { tier: 'store' } } },
}

/** Every store, and whatever goes, goes unasked. */
export const UNGUARDED_SHOP_PLACEMENT: Placement = {
  ...SHOP_PLACEMENT,
  spec: { ...SHOP_PLACEMENT.spec, guard: { maxDropped: '100%' } },
}

const MANIFESTS = `apiVersion: v1
kind: Namespace
metadata: { name: shop }
---
apiVersion: v1
kind: ConfigMap
metadata: { name: greeting, namespace: shop }
data: { text: good morning }
---
apiVersion: apps/v1
kind: Deployment
metadata: { name: shop, namespace: shop, labels: { app: shop } }
spec:
  replicas: 2
  selector: { matchLabels: { app: shop } }
  template:
    metadata: { labels: { app: shop } }
    spec: { containers: [{ name: shop, image: "registry.example/shop:1.0" }] }
`

/** A namespace, a ConfigMap and a Deployment, inline. */
export const SHOP_BUNDLE: Bundle = {
  apiVersion: 'flotilla.dev/v1alpha1',
  kind: 'Bundle',
  metadata: { name: 'shop', namespace: 'default' },
  spec: { manifests: MANIFESTS, placement: 'stores' },
}
