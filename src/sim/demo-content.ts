/** What the demo runs, and where. */
import type { Bundle } from '../kinds/bundle.ts'
import type { Placement } from '../kinds/placement.ts'

const API_VERSION = 'flotilla.dev/v1alpha1'
const NAMESPACE = 'default'

/** The objects every demo cluster gets. */
export const DEMO_OBJECTS = {
  namespace: 'shop',
  configMap: 'greeting',
  deployment: 'shop',
} as const

const MANIFESTS = `apiVersion: v1
kind: Namespace
metadata:
  name: ${DEMO_OBJECTS.namespace}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: ${DEMO_OBJECTS.configMap}
  namespace: ${DEMO_OBJECTS.namespace}
data:
  text: good morning
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: ${DEMO_OBJECTS.deployment}
  namespace: ${DEMO_OBJECTS.namespace}
  labels:
    app: shop
spec:
  replicas: 2
  selector:
    matchLabels:
      app: shop
  template:
    metadata:
      labels:
        app: shop
    spec:
      containers:
        - name: shop
          image: registry.example/shop:1.0
`

/** The labels of the demo's clusters, in the order they join. */
export function demoLabels(index: number): Record<string, string> {
  return { tier: 'store', region: index % 2 === 0 ? 'north' : 'south' }
}

/** Every store. */
export const DEMO_PLACEMENT: Placement = {
  apiVersion: API_VERSION,
  kind: 'Placement',
  metadata: { name: 'stores', namespace: NAMESPACE },
  spec: { clusterSelector: { matchLabels: { tier: 'store' } } },
}

/** One inline bundle. */
export const DEMO_BUNDLE: Bundle = {
  apiVersion: API_VERSION,
  kind: 'Bundle',
  metadata: { name: 'shop', namespace: NAMESPACE },
  spec: { manifests: MANIFESTS, placement: 'stores' },
}
