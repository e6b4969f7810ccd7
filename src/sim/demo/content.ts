/** What the demo runs, and where: the files of its git repository, and the hub's objects that follow it. */
import type { Bundle } from '../../kinds/native/bundle.ts'
import type { KubeObject } from '../../kinds/meta.ts'
import type { Placement } from '../../kinds/native/placement.ts'
import type { RolloutPlan } from '../../kinds/native/rollout-plan.ts'
import type { Source } from '../../kinds/native/source.ts'
import { REGIONS, RINGS } from './stores.ts'
import type { Store } from './stores.ts'

const API_VERSION = 'flotilla.dev/v1alpha1'
const NAMESPACE = 'default'

/** The objects every demo cluster gets. */
export const DEMO_OBJECTS = {
  namespace: 'shop',
  configMap: 'greeting',
  deployment: 'shop',
} as const

/** The name of the Source, and of its repository. */
export const DEMO_SOURCE = 'fleet'

const BASELINE = `apiVersion: v1
kind: Namespace
metadata:
  name: ${DEMO_OBJECTS.namespace}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: baseline
  namespace: ${DEMO_OBJECTS.namespace}
data:
  owner: platform
`

const KUSTOMIZATION = `apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources: [shop.yaml]
`

const shop = (version: string): string => `apiVersion: v1
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
          image: registry.example/shop:${version}
`

const overlay = (region: string, base: string): string => `apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources: [${base}]
patches:
  - patch: |
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: ${DEMO_OBJECTS.configMap}
        namespace: ${DEMO_OBJECTS.namespace}
      data:
        region: ${region}
`

/** The files that make version `version` of the app. */
export function releaseFiles(version: string): Record<string, string> {
  return { 'shop/base/shop.yaml': shop(version) }
}

/** The file of a region's overlay. A bad overlay refers to a directory that does not exist. */
export function overlayFiles(region: string, isGood: boolean): Record<string, string> {
  return { [`shop/overlays/${region}/kustomization.yaml`]: overlay(region, isGood ? '../../base' : '../../bsae') }
}

/** The first commit. */
export function firstFiles(version: string): Record<string, string> {
  return {
    'baseline/baseline.yaml': BASELINE,
    'shop/base/kustomization.yaml': KUSTOMIZATION,
    ...releaseFiles(version),
    ...Object.assign({}, ...REGIONS.map((region) => overlayFiles(region, true))),
  }
}

function object<T extends KubeObject>(kind: T['kind'], name: string, spec: unknown): T {
  return { apiVersion: API_VERSION, kind, metadata: { name, namespace: NAMESPACE }, spec } as unknown as T
}

/** Every store. */
export const DEMO_PLACEMENT = object<Placement>('Placement', 'stores', {
  clusterSelector: { matchLabels: { tier: 'store' } },
})

/** The bundle that is delivered to all clusters before the app. */
export const BASELINE_BUNDLE = object<Bundle>('Bundle', 'baseline', {
  source: { name: DEMO_SOURCE, path: 'baseline' },
  placement: 'stores',
  rollout: { concurrency: '50%' },
})

const PLAN = 'rings'

/** What a plan of the demo is made of. */
export interface DemoPlan {
  readonly stores: readonly Store[]
  readonly soak: string
  /** Where the change board is asked. */
  readonly board: string
  /** Whether a ring waits for a person; the first deployment comes up by itself. */
  readonly asksApproval: boolean
}

/** The ring that waits for a person: the third, or the last where there are fewer. */
function approvedRing(stores: readonly Store[]): string {
  const rings = ringsOf(stores)
  return rings[Math.min(2, rings.length - 1)] ?? RINGS[0]
}

function ringsOf(stores: readonly Store[]): readonly string[] {
  return RINGS.filter((name) => stores.some(({ ring }) => ring === name))
}

/**
 * The rings select clusters by label; the last ring takes the remaining clusters. Each ring soaks for a few seconds, so
 * that the rollout can be watched. The second ring passes when the change board's gate passes, the third ring opens
 * after an approval.
 */
export function demoPlan({ stores, soak, board, asksApproval }: DemoPlan): RolloutPlan {
  const rings = ringsOf(stores)
  const gate = { name: 'change-board', when: 'Pass', webhook: { url: board } }
  return object<RolloutPlan>('RolloutPlan', PLAN, {
    rings: rings.map((name, index) => ({
      name,
      ...(index < rings.length - 1 && { selector: { matchLabels: { ring: name } } }),
      concurrency: 8,
      // A failed store does not stop the ring; two failed stores do.
      maxFailed: 1,
      readyShare: '80%',
      soak,
      ...(index === Math.min(1, rings.length - 1) && { gates: [gate] }),
      ...(asksApproval && name === approvedRing(stores) && { approvals: { count: 1 } }),
    })),
    progressDeadline: '2m',
  })
}

/** The app: one overlay per region, drift is shown and left alone. */
export const DEMO_BUNDLE = object<Bundle>('Bundle', 'shop', {
  source: { name: DEMO_SOURCE, path: 'shop' },
  style: 'Kustomize',
  kustomize: { dir: 'base' },
  variants: REGIONS.map((region) => ({
    name: region,
    clusterSelector: { matchLabels: { region } },
    kustomize: { dir: `overlays/${region}` },
  })),
  placement: 'stores',
  rollout: { plan: PLAN },
  dependsOn: [{ bundle: 'baseline' }],
  drift: { mode: 'Report' },
})

/** The repository, by its path on this machine. */
export function demoSource(path: string): Source {
  return object<Source>('Source', DEMO_SOURCE, { git: { url: path, ref: { branch: 'main' } }, interval: '15s' })
}
