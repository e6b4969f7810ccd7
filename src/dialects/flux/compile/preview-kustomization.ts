// Tested by src/cli/commands/flux/diff/diff-kustomization.contract.test.ts.
/** What a Kustomization would become, for commands that compare before the hub compiles it. Pure. */
import type { Kind } from '../../../kinds/define-kind.ts'
import { apiVersionOf } from '../../../kinds/meta.ts'
import type { KubeObject, UnknownObject } from '../../../kinds/meta.ts'
import type { Bundle } from '../../../kinds/native/bundle.ts'
import type { FluxKustomization } from '../build/flux-kustomization.ts'
import { Kustomization } from '../kinds.ts'
import { clusterTreeOf } from './cluster-trees.ts'
import { compileKustomization, PLACEMENT_ANNOTATION, readKustomization } from './compile-kustomization.ts'
import type { KustomizationScene, SubstituteFrom } from './compile-kustomization.ts'
import { COMPILED, madeName } from './made-objects.ts'
import type { Desired } from './made-objects.ts'
import { compileNested } from './nested-objects.ts'

/** A Kustomization of a file; metadata of the hub's object stays. */
export function kustomizationOf(
  { name, namespace, spec, annotations = {} }: FluxKustomization,
  live: Kustomization | undefined,
): Kustomization {
  const metadata = { ...live?.metadata, name, namespace }
  return {
    apiVersion: apiVersionOf(Kustomization),
    kind: Kustomization.kind,
    metadata: { ...metadata, annotations: { ...live?.metadata.annotations, ...annotations } },
    spec,
  }
}

/** What a command has to read before it can compare. */
export interface PreviewNeeds {
  readonly substituteFrom: readonly SubstituteFrom[]
  /** The name of the Bundle on the hub. */
  readonly bundle: string
  /** The Placement that the object names. */
  readonly placement?: string | undefined
  readonly prunes: boolean
  /** Why the hub would refuse the object. */
  readonly problem?: string | undefined
}

/** Reads a Kustomization as the hub does. */
export function previewNeeds(object: Kustomization): PreviewNeeds {
  const { spec, findings } = readKustomization(object)
  return {
    substituteFrom: spec.substituteFrom,
    bundle: madeName(Kustomization.kind, object.metadata.name),
    placement: object.metadata.annotations?.[PLACEMENT_ANNOTATION],
    prunes: spec.fields['prune'] === true,
    problem: findings.find(({ level }) => level === 'error')?.message,
  }
}

/** What the hub knows besides the object. */
export type PreviewScene = Pick<KustomizationScene, 'configMaps' | 'secrets'> & {
  /** The Bundle that the Kustomization has now. */
  readonly live?: Bundle | undefined
  /** The Placement for a Kustomization without a Bundle. */
  readonly placement: string
}

/** The Bundle of a Kustomization; the files of its source are those of a local directory. */
export function previewBundle(object: Kustomization, { live, placement, ...data }: PreviewScene): Bundle {
  const { spec } = readKustomization(object)
  const desired = compileKustomization(object, spec, {
    ...data,
    target: { placement: live?.spec.placement ?? placement },
    source: { include: [], ignore: '' },
    allowsSecrets: live?.spec.secrets === 'Allow',
    decryptsInCluster: live?.spec.decryption?.at === 'Agent',
  })
  return desired.at(-1)!.object as Bundle
}

/** An object of Flux that the hub would write for the build of a Kustomization. */
export interface PreviewedObject {
  readonly object: Desired['object']
  readonly live?: KubeObject | undefined
  readonly isSame: boolean
}

/** The objects of Flux that the hub would write for a build, and what it would leave out. */
export function previewNested(
  parent: Kustomization,
  objects: readonly UnknownObject[],
  find: (kind: Kind, name: string) => KubeObject | undefined,
  placement: string,
): { readonly nested: readonly PreviewedObject[]; readonly leftOut: readonly string[] } {
  const isOfCluster = readKustomization(parent).spec.kubeConfigSecret !== '' || clusterTreeOf(parent) !== undefined
  const target = isOfCluster ? { cluster: '' } : { placement }
  const { desired, findings } = compileNested(parent, objects, { target, find })
  return {
    nested: desired.map(({ kind, object }) => {
      const live = find(kind, object.metadata.name)
      const digest = object.metadata.annotations?.[COMPILED]
      return { object, live, isSame: digest !== undefined && live?.metadata.annotations?.[COMPILED] === digest }
    }),
    leftOut: findings.map(({ message }) => message),
  }
}
