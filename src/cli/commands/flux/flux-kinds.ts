// Tested by src/cli/commands/flux/flux-objects.test.ts.
/** The kinds of Flux that the commands know, and the words for them. */
import type { Condition, KubeObject, ResourceType } from '../../../kinds/meta.ts'

interface Reference {
  readonly kind?: string
  readonly name?: string
}

/** An object of Flux: the fields that the commands read. */
export interface FluxObject extends KubeObject {
  spec: {
    suspend?: boolean
    type?: string
    sourceRef?: Reference
    chartRef?: Reference
    /** The name of a chart in a HelmChart, its definition in a HelmRelease. */
    chart?: string | { readonly spec?: { readonly sourceRef?: Reference } }
  }
  status?: {
    conditions?: Condition[]
    artifact?: { revision?: string }
    helmChart?: string
    lastAppliedRevision?: string
    lastHandledReconcileAt?: string
    inventory?: { entries?: { id: string; v: string }[] }
  }
}

/** A kind as Flux's command calls it. */
export interface FluxKind {
  readonly type: ResourceType<FluxObject>
  /** The words after the verb, for example `source git`. */
  readonly words: string
}

const kind = (words: string, apiVersion: `${string}/${string}`, name: string, plural: string): FluxKind => {
  const [group = '', version = ''] = apiVersion.split('/')
  return { words, type: { group: `${group}.toolkit.fluxcd.io`, version, kind: name, plural, scope: 'Namespaced' } }
}

/** The kinds that the hub serves, in the order of `flux get all`. */
export const FLUX_COMMAND_KINDS = {
  oci: kind('source oci', 'source/v1', 'OCIRepository', 'ocirepositories'),
  git: kind('source git', 'source/v1', 'GitRepository', 'gitrepositories'),
  bucket: kind('source bucket', 'source/v1', 'Bucket', 'buckets'),
  helm: kind('source helm', 'source/v1', 'HelmRepository', 'helmrepositories'),
  chart: kind('source chart', 'source/v1', 'HelmChart', 'helmcharts'),
  kustomization: kind('kustomization', 'kustomize/v1', 'Kustomization', 'kustomizations'),
  helmrelease: kind('helmrelease', 'helm/v2', 'HelmRelease', 'helmreleases'),
} as const

/** The words of `flux get`. */
export const GET_WORDS: ReadonlyMap<FluxKind, string> = new Map(
  Object.values(FLUX_COMMAND_KINDS).map((one) => [
    one,
    one.words.startsWith('source ') ? one.words.replace('source/v1', 'sources') : `${one.words}s`,
  ]),
)

/** A kind by its name in a reference. */
export function kindNamed(name: string | undefined): FluxKind | undefined {
  return Object.values(FLUX_COMMAND_KINDS).find(({ type }) => type.kind === name)
}
