// Tested by src/dialects/karmada/recorded.contract.test.ts: recorded answers of Karmada.
/** InterpretDependency: the objects that an object needs on its clusters. */
import { compact } from '../../../core/compact.ts'
import { kindOf, listIn, mapIn, textIn } from './shape.ts'
import type { InterpretedObject } from './shape.ts'

/** A reference to one object, or to those with a label. */
export interface DependentObject {
  readonly apiVersion: string
  readonly kind: string
  readonly namespace?: string
  readonly name?: string
  readonly labelSelector?: { readonly matchLabels: Readonly<Record<string, string>> }
}

/** Where the spec of the pods stands. */
const POD_SPECS: Readonly<Record<string, readonly string[]>> = {
  'apps/v1 Deployment': ['spec', 'template', 'spec'],
  'apps/v1 ReplicaSet': ['spec', 'template', 'spec'],
  'apps/v1 StatefulSet': ['spec', 'template', 'spec'],
  'apps/v1 DaemonSet': ['spec', 'template', 'spec'],
  'batch/v1 Job': ['spec', 'template', 'spec'],
  'batch/v1 CronJob': ['spec', 'jobTemplate', 'spec', 'template', 'spec'],
  'v1 Pod': ['spec'],
}

/** Where the volume of each type names a Secret. */
const VOLUME_SECRETS: readonly (readonly string[])[] = [
  ['secret', 'secretName'],
  ['azureFile', 'secretName'],
  ['cephfs', 'secretRef', 'name'],
  ['cinder', 'secretRef', 'name'],
  ['csi', 'nodePublishSecretRef', 'name'],
  ['flexVolume', 'secretRef', 'name'],
  ['iscsi', 'secretRef', 'name'],
  ['rbd', 'secretRef', 'name'],
  ['scaleIO', 'secretRef', 'name'],
  ['storageos', 'secretRef', 'name'],
]

/** Undefined for a kind that needs nothing. Throws where an Ingress names no Secret, as Karmada refuses it. */
export function interpretDependencies(object: InterpretedObject): DependentObject[] | undefined {
  const kind = kindOf(object)
  const { namespace } = object.metadata
  if (kind === 'networking.k8s.io/v1 Ingress') return tlsSecrets(object)
  if (kind === 'multicluster.x-k8s.io/v1alpha1 ServiceImport') return derivedObjects(object)
  const path = POD_SPECS[kind]
  if (!path) return undefined
  const claimed = new Set(
    listIn(object, 'spec', 'volumeClaimTemplates').map((template) => textIn(template, 'metadata', 'name')),
  )
  return podDependencies(mapIn(object, ...path))
    .filter(([of, name]) => of !== 'PersistentVolumeClaim' || !claimed.has(name))
    .map(([of, name]) => compact({ apiVersion: 'v1', kind: of, namespace, name }))
}

export type Named = readonly [kind: string, name: string]

/** The objects that pods of this spec name, each once, by kind and name. */
export function podDependencies(pod: unknown): Named[] {
  const found = new Map<string, Named>()
  const add = (kind: string, name: string): void => {
    if (name !== '') found.set(`${kind}/${name}`, [kind, name])
  }
  for (const container of ['containers', 'initContainers', 'ephemeralContainers'].flatMap((field) =>
    listIn(pod, field),
  )) {
    for (const variable of listIn(container, 'env')) {
      add('ConfigMap', textIn(variable, 'valueFrom', 'configMapKeyRef', 'name'))
      add('Secret', textIn(variable, 'valueFrom', 'secretKeyRef', 'name'))
    }
    for (const source of listIn(container, 'envFrom')) {
      add('ConfigMap', textIn(source, 'configMapRef', 'name'))
      add('Secret', textIn(source, 'secretRef', 'name'))
    }
  }
  for (const volume of listIn(pod, 'volumes')) {
    add('ConfigMap', textIn(volume, 'configMap', 'name'))
    add('PersistentVolumeClaim', textIn(volume, 'persistentVolumeClaim', 'claimName'))
    for (const path of VOLUME_SECRETS) add('Secret', textIn(volume, ...path))
    for (const source of listIn(volume, 'projected', 'sources')) {
      add('ConfigMap', textIn(source, 'configMap', 'name'))
      add('Secret', textIn(source, 'secret', 'name'))
    }
  }
  for (const secret of listIn(pod, 'imagePullSecrets')) add('Secret', textIn(secret, 'name'))
  const account = textIn(pod, 'serviceAccountName')
  if (account !== 'default') add('ServiceAccount', account)
  return [...found].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, named]) => named)
}

function tlsSecrets(ingress: InterpretedObject): DependentObject[] {
  const names = listIn(ingress, 'spec', 'tls').map((tls) => textIn(tls, 'secretName'))
  const nameless = names.indexOf('')
  if (nameless >= 0) {
    throw new Error(
      `Ingress ${ingress.metadata.name}: spec.tls[${nameless}] has no secretName: give the name of a Secret`,
    )
  }
  return [...new Set(names)].map((name) =>
    compact({ apiVersion: 'v1', kind: 'Secret', namespace: ingress.metadata.namespace, name }),
  )
}

/** A ServiceImport stands for a Service that Karmada derives from it. */
function derivedObjects({ metadata: { name, namespace } }: InterpretedObject): DependentObject[] {
  const derived = `derived-${name}`
  const matchLabels = { 'kubernetes.io/service-name': derived }
  return [
    compact({ apiVersion: 'v1', kind: 'Service', namespace, name: derived }),
    compact({ apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', namespace, labelSelector: { matchLabels } }),
  ]
}
