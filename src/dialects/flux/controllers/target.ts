// Tested by src/dialects/flux/controllers/kustomization.sim.test.ts.
/** The clusters of an object of Flux, and the ConfigMaps and Secrets that it names. */
import { Stalled, Waiting } from '../../../core/errors.ts'
import type { Context } from '../../../engine/reconciler.ts'
import type { KubeObject } from '../../../kinds/meta.ts'
import { clusterTreeOf } from '../compile/cluster-trees.ts'
import { DECRYPTION_ANNOTATION, PLACEMENT_ANNOTATION } from '../compile/compile-kustomization.ts'
import type { KustomizationScene } from '../compile/compile-kustomization.ts'
import type { DataPorts, TargetPorts } from './ports.ts'

/** As in Flux: the time after which a cluster is looked for again. */
const RETRY_MS = 30_000

/** The clusters of an object; throws Waiting if none is named. */
export function targetOf(
  object: KubeObject,
  { kubeConfigSecret }: { readonly kubeConfigSecret: string },
  ports: TargetPorts,
): KustomizationScene['target'] {
  const { namespace = '', annotations = {} } = object.metadata
  if (kubeConfigSecret !== '') {
    const cluster = ports.clusterOfSecret(namespace, kubeConfigSecret)
    if (cluster !== undefined) return { cluster }
    throw new Waiting(
      'NoCluster',
      `spec.kubeConfig names Secret ${kubeConfigSecret}, and no Cluster is registered with this Secret; register one with spec.kubeconfigSecret, or use the annotation ${PLACEMENT_ANNOTATION}`,
      RETRY_MS,
    )
  }
  const tree = clusterTreeOf(object)
  if (tree) return { cluster: tree.cluster }
  const placement = annotations[PLACEMENT_ANNOTATION] ?? ports.namespaceAnnotation(namespace, PLACEMENT_ANNOTATION)
  if (placement) return { placement }
  throw new Waiting(
    'NoCluster',
    `no cluster is named: set the annotation ${PLACEMENT_ANNOTATION} on this object or on Namespace ${namespace} to the name of a Placement, or spec.kubeConfig.secretRef to the kubeconfig of a registered cluster`,
    RETRY_MS,
  )
}

/** Whether agents decrypt what SOPS encrypted; the annotation of the object wins over that of its Namespace. */
export function decryptsInCluster({ metadata }: KubeObject, ports: Pick<TargetPorts, 'namespaceAnnotation'>): boolean {
  const { namespace = '', annotations = {} } = metadata
  const asked =
    annotations[DECRYPTION_ANNOTATION] ?? ports.namespaceAnnotation(namespace, DECRYPTION_ANNOTATION) ?? 'Hub'
  if (asked === 'Hub' || asked === 'Agent') return asked === 'Agent'
  throw new Stalled(
    'BadAnnotation',
    `annotation ${DECRYPTION_ANNOTATION} is ${JSON.stringify(asked)}; use Hub or Agent`,
  )
}

/** The ConfigMaps and Secrets that exist; the build says which one is missing. */
export async function dataOf(
  { metadata }: KubeObject,
  references: readonly { readonly kind: string; readonly name: string }[],
  { ports, context }: { readonly ports: DataPorts; readonly context: Context },
): Promise<Pick<KustomizationScene, 'configMaps' | 'secrets'>> {
  const { namespace = '' } = metadata
  const configMaps: Record<string, Readonly<Record<string, string>>> = {}
  const secrets = new Set<string>()
  for (const { kind, name } of references) {
    if (kind === 'Secret') {
      if (await ports.hasSecret(namespace, name, context.signal)) secrets.add(name)
      continue
    }
    if (kind !== 'ConfigMap') continue
    const data = await ports.configMapData(namespace, name, context.signal)
    if (data) configMaps[name] = data
  }
  return { configMaps, secrets: [...secrets] }
}
